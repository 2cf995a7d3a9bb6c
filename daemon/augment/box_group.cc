#include "augment/box_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "augment/sample_fields.h"

namespace echoline::augment {
namespace {

Status check_elements(std::size_t elements, std::size_t boxes) {
  if (elements == boxes) return {};
  return {Code::kInvalidArgument,
          fmt::format("{} boxes have {} labels or other elements", boxes, elements)};
}

void copy_numbers(const decode::Tensor& from, std::vector<float>& to) {
  const std::span<const std::byte> content = from.content();
  to.resize(content.size() / sizeof(float));
  if (!to.empty()) std::memcpy(to.data(), content.data(), content.size());
}

}  // namespace

BoxGroup group_of(const std::vector<decode::FieldType>& fields, std::size_t boxes) {
  BoxGroup group;
  group.boxes = boxes;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].ragged || fields[i].of != fields[boxes].name) continue;
    if (fields[i].objects_max > 0) {
      group.masks.push_back(i);
    } else if (fields[i].points) {
      group.points.push_back({i, fields[i].shape.sizes[1], fields[i].pairs});
    } else {
      group.others.push_back(i);
    }
  }
  return group;
}

std::vector<BoxGroup> groups_of_image(const std::vector<decode::FieldType>& fields,
                                      const std::string& image) {
  std::vector<BoxGroup> groups;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].may_be_boxes() && fields[i].of == image) groups.push_back(group_of(fields, i));
  }
  return groups;
}

Status check_removable(const std::vector<decode::FieldType>& fields, std::size_t boxes) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool follows = i == boxes || fields[i].of == fields[boxes].name;
    if (!follows || fields[i].ragged) continue;
    return {Code::kInvalidArgument,
            fmt::format("can remove boxes of {}, but {} has one length since pad; put pad after "
                        "this step",
                        fields[boxes].name, fields[i].name)};
  }
  return {};
}

Status check_followers(const std::vector<decode::FieldType>& fields, const std::string& image) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    // A mask has no boxes.
    if (fields[i].of == image && !fields[i].mask) ECHOLINE_TRY(check_removable(fields, i));
  }
  return {};
}

Status ChangedBoxes::start(const decode::Sample& in, const BoxGroup& group) {
  const decode::Tensor& boxes = in.tensors[group.boxes];
  const std::size_t count = boxes.shape.sizes[0];
  for (const std::size_t other : group.others) {
    ECHOLINE_TRY(check_elements(in.tensors[other].shape.sizes[0], count));
  }
  copy_numbers(boxes, corners_);
  points_.resize(group.points.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const decode::Tensor& points = in.tensors[group.points[i].field];
    ECHOLINE_TRY(check_elements(points.shape.sizes[0], count));
    copy_numbers(points, points_[i]);
  }
  masks_.resize(group.masks.size());
  for (std::size_t i = 0; i < masks_.size(); ++i) {
    ECHOLINE_TRY(load(in.tensors[group.masks[i]], masks_[i]));
    ECHOLINE_TRY(check_elements(masks_[i].objects, count));
  }
  removed_.assign(count, false);
  return {};
}

void ChangedBoxes::hide_points(const BoxGroup& group, const decode::ImageSize& size) {
  for (std::size_t i = 0; i < points_.size(); ++i) mover_of(group, i).clip(size);
}

void ChangedBoxes::clip(const BoxGroup& group, const decode::ImageSize& size) {
  BoxMover(corners_).clip(size);
  hide_points(group, size);
  remove_empty();
}

void ChangedBoxes::remove_empty() {
  for (std::size_t i = 0; i < count(); ++i) {
    const auto corners = box(i);
    if (!(corners[0] < corners[2] && corners[1] < corners[3])) remove(i);
  }
}

void ChangedBoxes::write(const decode::Sample& in, const BoxGroup& group,
                         std::vector<decode::Tensor>& out) {
  keep_elements(in.tensors[group.boxes], reinterpret_cast<const std::byte*>(corners_.data()),
                out[group.boxes]);
  for (const std::size_t other : group.others) {
    keep_elements(in.tensors[other], in.tensors[other].content().data(), out[other]);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const std::size_t field = group.points[i].field;
    keep_elements(in.tensors[field], reinterpret_cast<const std::byte*>(points_[i].data()),
                  out[field]);
  }
  for (std::size_t i = 0; i < masks_.size(); ++i) keep_objects(masks_[i], out[group.masks[i]]);
}

void ChangedBoxes::keep_objects(const decode::ObjectRuns& from, decode::Tensor& to) {
  kept_.start(from.size, static_cast<std::uint32_t>(std::ranges::count(removed_, false)));
  std::uint32_t object = 0;  // its number without those that are removed before it
  std::uint32_t before = 0;
  for (decode::ObjectRun run : from.runs) {
    for (; before < run.object; ++before) object += removed_[before] ? 0U : 1U;
    if (removed_[run.object]) continue;
    run.object = object;
    kept_.runs.push_back(run);
  }
  store(kept_, to);
}

void ChangedBoxes::keep_elements(const decode::Tensor& from, const std::byte* content,
                                 decode::Tensor& to) const {
  decode::Shape shape = from.shape;
  shape.sizes[0] = static_cast<std::uint32_t>(std::ranges::count(removed_, false));
  std::byte* at = make_room(to, from.dtype, shape);
  const std::size_t bytes_each = count() == 0 ? 0 : from.content().size() / count();
  for (std::size_t i = 0; i < count(); ++i) {
    if (removed_[i]) continue;
    std::memcpy(at, content + i * bytes_each, bytes_each);
    at += bytes_each;
  }
}

}  // namespace echoline::augment
