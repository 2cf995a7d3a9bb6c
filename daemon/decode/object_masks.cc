// Masks of single objects: `as: coco_object_masks`, `as: yolo_object_masks`, and `as: object_masks`
// from a PNG file whose pixels are numbers of objects.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "decode/field.h"
#include "decode/object_runs.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

class OutlinesField final : public FieldOnPicture {
 public:
  OutlinesField(ReadAnnotations reader, FieldType type) : reader_(reader), type_(std::move(type)) {}

  FieldType type() const override { return type_; }
  ReadAnnotations annotations() const override { return reader_; }

  Status read_on(const ImageSize& picture, std::span<const std::byte> bytes, Scratch& scratch,
                 Tensor& out) const override {
    ECHOLINE_TRY(scratch.annotations.read(reader_, bytes, type_.objects_max));
    const Annotations& found = scratch.annotations.found();
    const auto count = static_cast<std::uint32_t>(found.objects.size());
    scratch.objects.start(picture, count);
    std::uint64_t budget = kCrossingsMax;
    for (std::uint32_t i = 0; i < count; ++i) {
      ECHOLINE_TRY(outline_pixels(found, i, picture, budget, scratch.outlines));
      ECHOLINE_TRY(add_object(i, scratch.outlines.runs, scratch.objects));
    }
    store(scratch.objects, out);
    return {};
  }

 private:
  const ReadAnnotations reader_;
  const FieldType type_;
};

// Adds the pixels of a column that have the number of an object, and returns the largest number.
template <typename NumberAt>
std::uint32_t add_column(std::uint32_t column, std::uint32_t height, std::uint32_t ignore,
                         const NumberAt& number_at, std::vector<ObjectRun>& out) {
  std::uint32_t most = 0;
  for (std::uint32_t row = 0; row < height;) {
    const std::uint32_t number = number_at(row);
    const std::uint32_t begin = row;
    while (row < height && number_at(row) == number) ++row;
    if (number == 0 || number == ignore) continue;
    out.push_back({number - 1, column, begin, row});
    most = std::max(most, number);
  }
  return most;
}

class NumbersField final : public Field {
 public:
  NumbersField(FieldType type, bool exif) : type_(std::move(type)), exif_(exif) {}

  FieldType type() const override { return type_; }

  Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const override {
    ECHOLINE_ASSIGN(const ImageSize size, scratch.images.open(bytes, exif_));
    using Number = std::uint16_t;
    scratch.numbers.resize(size.pixels() * sizeof(Number));
    auto* const numbers = reinterpret_cast<Number*>(scratch.numbers.data());
    ECHOLINE_TRY(scratch.images.read_ids(sizeof(Number), reinterpret_cast<std::uint8_t*>(numbers)));
    ObjectRuns& masks = scratch.objects;
    masks.start(size, 0);
    for (std::uint32_t column = 0; column < size.width; ++column) {
      const auto number_at = [&](std::size_t row) { return numbers[row * size.width + column]; };
      const std::uint32_t most =
          add_column(column, size.height, type_.ignore, number_at, masks.runs);
      masks.objects = std::max(masks.objects, most);
      ECHOLINE_TRY(check_count(masks));
    }
    if (masks.objects > type_.objects_max) return too_many_objects(type_.objects_max);
    std::ranges::sort(masks.runs);
    store(masks, out);
    return {};
  }

 private:
  const FieldType type_;
  const bool exif_;
};

}  // namespace

template <ReadAnnotations reader>
FieldResult make_outlines_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(const FieldType objects, objects_type(entry, shm::kUint8));
  return std::unique_ptr<Field>(
      new OutlinesField(reader, object_masks_type(objects.shape.sizes[0])));
}

template FieldResult make_outlines_field<read_coco>(const v1::DecodeField&);
template FieldResult make_outlines_field<read_yolo>(const v1::DecodeField&);

FieldResult make_numbers_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(const FieldType objects, objects_type(entry, shm::kUint8));
  FieldType type = object_masks_type(objects.shape.sizes[0]);
  if (entry.has_ignore()) type.ignore = static_cast<std::uint16_t>(entry.ignore());
  return std::unique_ptr<Field>(new NumbersField(std::move(type), entry.exif()));
}

}  // namespace echoline::decode
