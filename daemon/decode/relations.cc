#include "decode/relations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/check.h"

namespace echoline::decode {
namespace {

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

ImageSize size_of(const Tensor& tensor) { return {tensor.shape.sizes[0], tensor.shape.sizes[1]}; }

// The only field for which `fits`(index); nothing if there is none or several.
template <typename Fits>
std::optional<std::size_t> only(std::size_t count, const Fits& fits) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i) {
    if (!fits(i)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

bool belongs_to_image(const FieldType& type) { return type.may_be_boxes() || type.mask; }

// What field `index` belongs to without a setting; nothing if it is no annotation, or is not clear.
std::optional<std::size_t> default_of(const std::vector<RelatedField>& fields, std::size_t index,
                                      const std::vector<FieldType>& types) {
  const RelatedField& field = fields[index];
  if (field.field->annotations() == nullptr && !types[index].mask) return std::nullopt;
  if (belongs_to_image(types[index])) {
    return only(fields.size(), [&](std::size_t i) { return types[i].image; });
  }
  return only(fields.size(), [&](std::size_t i) {
    return types[i].may_be_boxes() && fields[i].key == field.key &&
           fields[i].field->annotations() == field.field->annotations();
  });
}

Result<std::optional<std::size_t>> configured_of(const std::vector<RelatedField>& fields,
                                                 std::size_t index,
                                                 const std::vector<FieldType>& types) {
  const std::string& of = fields[index].of;
  if (of.empty()) return default_of(fields, index, types);
  if (!types[index].ragged && !types[index].mask) {
    return refused("of is for boxes, masks, and rows of different lengths");
  }
  const auto found = only(fields.size(), [&](std::size_t i) { return fields[i].name == of; });
  if (!found) return refused(fmt::format("of is \"{}\", which is not decoded", of));
  if (belongs_to_image(types[index]) ? types[*found].image : types[*found].may_be_boxes()) {
    return found;
  }
  return refused(
      fmt::format("of is \"{}\"; boxes, float32 [n, 4], and masks belong to an image, all others "
                  "to boxes",
                  of));
}

// A field that belongs to no other one.
Status check_alone(const RelatedField& field, const FieldType& type) {
  const char* what = nullptr;
  if (type.mask) what = "the image that the mask belongs to";
  if (type.points) what = "the boxes of the objects that the key points belong to";
  if (type.may_be_boxes() && field.field->annotations() == read_yolo) {
    what = "the image whose sides the boxes of YOLO are shares of";
  }
  if (what == nullptr) return {};
  return refused(fmt::format("field {}: of is missing: {}", field.name, what));
}

Status check_place(const Tensor& boxes, const ImageSize& picture) {
  const std::span<const std::byte> content = boxes.content();
  std::array<float, 4> box{};
  for (std::size_t at = 0; at < content.size(); at += sizeof box) {
    std::memcpy(box.data(), content.data() + at, sizeof box);  // raw elements have any alignment
    const std::size_t number = at / sizeof box;
    ECHOLINE_TRY(check_box({box[0], box[1], box[2], box[3]}, number));
    if (box[2] >= 0 && box[3] >= 0 && box[0] <= static_cast<float>(picture.width) &&
        box[1] <= static_cast<float>(picture.height)) {
      continue;
    }
    return refused(
        fmt::format("object {} has the box [{}] outside of the picture, which is {} "
                    "high and {} wide",
                    number, fmt::join(box, ", "), picture.height, picture.width));
  }
  return {};
}

}  // namespace

Status check_mask_size(const FieldType& type, const Tensor& mask, const Tensor& picture) {
  const ImageSize own = size_of(mask);
  const ImageSize wanted = size_of(picture);
  if (own == wanted) return {};
  return refused(
      fmt::format("field {} is a mask {} high and {} wide; its picture {} is {} high and {} wide",
                  type.name, own.height, own.width, type.of, wanted.height, wanted.width));
}

Result<Relations> Relations::find(const std::vector<RelatedField>& fields,
                                  std::vector<FieldType>& types) {
  Relations relations;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto of = configured_of(fields, i, types);
    if (!of.ok()) return of.status().with_context(fmt::format("field {}", fields[i].name));
    if (!of.value()) {
      ECHOLINE_TRY(check_alone(fields[i], types[i]));
      continue;
    }
    types[i].of = fields[*of.value()].name;
    auto& list = types[i].mask             ? relations.masks_
                 : types[i].may_be_boxes() ? relations.boxes_
                                           : relations.others_;
    list.push_back({i, *of.value(), fields[i].field});
  }
  return relations;
}

ImageSize Relations::picture_of(std::size_t mask, const Sample& sample) const {
  const auto found = std::ranges::find(masks_, mask, &Pair::field);
  ECHOLINE_CHECK(found != masks_.end());  // check_alone refuses a mask without a picture
  return size_of(sample.tensors[found->of]);
}

Status Relations::apply(const std::vector<FieldType>& types, Sample& sample) const {
  for (const Pair& pair : boxes_) {
    const ImageSize size = size_of(sample.tensors[pair.of]);
    Tensor& boxes = sample.tensors[pair.field];
    pair.kind->place_in(size, boxes);
    ECHOLINE_TRY(check_place(boxes, size).with_context("field " + types[pair.field].name));
  }
  for (const Pair& pair : masks_) {
    ECHOLINE_TRY(
        check_mask_size(types[pair.field], sample.tensors[pair.field], sample.tensors[pair.of]));
  }
  for (const Pair& pair : others_) {
    const std::uint32_t elements = sample.tensors[pair.field].shape.sizes[0];
    const std::uint32_t boxes = sample.tensors[pair.of].shape.sizes[0];
    if (elements == boxes) continue;
    return refused(fmt::format("field {} has {} elements for {} boxes of {}",
                               types[pair.field].name, elements, boxes, types[pair.of].name));
  }
  return {};
}

}  // namespace echoline::decode
