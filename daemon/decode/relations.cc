#include "decode/relations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "decode/annotations.h"
#include "decode/object_runs.h"

namespace echoline::decode {
namespace {

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

ImageSize image_size(const Shape& shape) { return {shape.sizes[0], shape.sizes[1]}; }
ImageSize size_of(const Tensor& tensor) { return image_size(tensor.shape); }

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

// Masks of objects that are no part of a file of annotations: numbers of objects in a PNG file.
bool are_numbers(const FieldType& type, const Field& field) {
  return type.objects_max > 0 && field.annotations() == nullptr;
}

// What field `index` belongs to without a setting; nothing if it is no annotation, or is not clear.
std::optional<std::size_t> default_of(const std::vector<RelatedField>& fields, std::size_t index,
                                      const std::vector<FieldType>& types) {
  const RelatedField& field = fields[index];
  const auto is_image = [&](std::size_t i) { return types[i].image; };
  if (are_numbers(types[index], *field.field)) {
    const auto boxes = only(fields.size(), [&](std::size_t i) { return types[i].may_be_boxes(); });
    return boxes ? boxes : only(fields.size(), is_image);
  }
  if (field.field->annotations() == nullptr && !types[index].mask) return std::nullopt;
  if (belongs_to_image(types[index])) return only(fields.size(), is_image);
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
  const bool to_image = belongs_to_image(types[index]) || types[index].objects_max > 0;
  const bool to_boxes = !belongs_to_image(types[index]);
  if ((to_image && types[*found].image) || (to_boxes && types[*found].may_be_boxes())) return found;
  return refused(
      fmt::format("of is \"{}\"; boxes, float32 [n, 4], and masks belong to an image, all others "
                  "to boxes",
                  of));
}

// A field that belongs to no other one.
Status check_alone(const RelatedField& field, const FieldType& type) {
  const char* what = nullptr;
  if (type.mask) what = "the image that the mask belongs to";
  if (type.objects_max > 0)
    what = "the boxes of the objects that the masks belong to, or the image";
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

Status check_objects_size(const ImageSize& own, const ImageSize& picture) {
  if (own == picture) return {};
  return refused(
      fmt::format("masks of objects {} high and {} wide; their picture is {} high and "
                  "{} wide",
                  own.height, own.width, picture.height, picture.width));
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
    auto& list = types[i].mask              ? relations.masks_
                 : types[i].may_be_boxes()  ? relations.boxes_
                 : types[i].objects_max > 0 ? relations.objects_
                                            : relations.others_;
    list.push_back({i, *of.value(), fields[i].field, types[*of.value()].image});
  }
  for (const Pair& pair : relations.objects_) {
    if (const auto image = relations.image_of(pair)) {
      if (types[*image].fixed) types[pair.field].objects_size = image_size(types[*image].shape);
      continue;
    }
    return refused(fmt::format("field {} has masks of the objects of {}, which belongs to no image",
                               types[pair.field].name, types[pair.of].name));
  }
  return relations;
}

std::optional<std::size_t> Relations::image_of(const Pair& objects) const {
  if (objects.has_image) return objects.of;
  const auto boxes = std::ranges::find(boxes_, objects.of, &Pair::field);
  return boxes == boxes_.end() ? std::nullopt : std::optional(boxes->of);
}

ImageSize Relations::picture_of(std::size_t mask, const Sample& sample) const {
  const auto found = std::ranges::find(masks_, mask, &Pair::field);
  if (found != masks_.end()) return size_of(sample.tensors[found->of]);
  const auto objects = std::ranges::find(objects_, mask, &Pair::field);
  ECHOLINE_CHECK(objects != objects_.end());  // check_alone refuses a mask without a picture
  return size_of(sample.tensors[*image_of(*objects)]);
}

// The masks of a PNG file end with the last object that has a pixel there.
Status Relations::check_objects(const Pair& pair, const std::vector<FieldType>& types,
                                Sample& sample) const {
  Tensor& tensor = sample.tensors[pair.field];
  ECHOLINE_ASSIGN(const ObjectRuns head, read_head(tensor));
  ECHOLINE_TRY(check_objects_size(head.size, picture_of(pair.field, sample)));
  if (pair.has_image) return {};
  const std::uint32_t boxes = sample.tensors[pair.of].shape.sizes[0];
  const std::uint32_t most = types[pair.field].objects_max;
  if (boxes > most) return too_many_objects(most);
  const bool may_have_less = are_numbers(types[pair.field], *pair.kind);
  if (may_have_less && head.objects < boxes) set_count(boxes, tensor);
  if (head.objects == boxes || (may_have_less && head.objects < boxes)) return {};
  return refused(fmt::format("masks of {} objects for {} boxes of {}", head.objects, boxes,
                             types[pair.of].name));
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
  for (const Pair& pair : objects_) {
    ECHOLINE_TRY(
        check_objects(pair, types, sample).with_context("field " + types[pair.field].name));
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
