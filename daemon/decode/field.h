// One field of the decode step: how the bytes of one file become one tensor.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "decode/annotations.h"
#include "decode/sample.h"
#include "decode/scratch.h"

namespace echoline::v1 {
class DecodeField;
}

namespace echoline::decode {

// What the next steps need of a picture: its region, and how small they allow it to be made.
struct Part {
  Region region;
  std::uint32_t reduction_max = 1;  // 1, 2, 4 or 8
};

// By the picture's size.
using PartOf = std::function<Part(const ImageSize& size)>;

// Immutable; any thread may read with its own Scratch.
class Field {
 public:
  virtual ~Field() = default;
  // Shape and element type, as far as the settings determine them; the caller sets the name.
  virtual FieldType type() const = 0;
  // Decodes `bytes` into `out`, which may borrow them (Tensor). An error means that the record is
  // bad: the message says why, the caller adds field and key.
  virtual Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const = 0;
  // The same, but an image may decode only the part and set out.part. The errors are the same.
  virtual Status read_part(std::span<const std::byte> bytes, const PartOf& /*part_of*/,
                           Scratch& scratch, Tensor& out) const {
    return read(bytes, scratch, out);
  }
  // What reads the file, if this field is made of annotations; else null.
  virtual ReadAnnotations annotations() const { return nullptr; }
  // Whether `read_on` is called instead of `read`, with the size of the picture that it belongs to.
  virtual bool needs_picture() const { return false; }
  virtual Status read_on(const ImageSize& /*picture*/, std::span<const std::byte> bytes,
                         Scratch& scratch, Tensor& out) const {
    return read(bytes, scratch, out);
  }
  // Of boxes: converts what `read` made to pixels of the picture that they belong to.
  virtual void place_in(const ImageSize& /*picture*/, Tensor& /*boxes*/) const {}
};

// A field whose tensor has the size of the picture that it belongs to: `read_on` makes it.
class FieldOnPicture : public Field {
 public:
  bool needs_picture() const final { return true; }
  Status read(std::span<const std::byte>, Scratch&, Tensor&) const final {
    return {Code::kInvalidArgument, "it needs its picture"};
  }
};

using FieldResult = Result<std::unique_ptr<Field>>;

// The constructors of the table in field_kinds.cc. Errors are kInvalidArgument.
FieldResult make_image_field(const v1::DecodeField& entry);  // rgb, gray
FieldResult make_text_field(const v1::DecodeField& entry);   // text, bytes
FieldResult make_mask_field(const v1::DecodeField& entry);   // mask, mask16
FieldResult make_coco_points_field(const v1::DecodeField& entry);
FieldResult make_points_field(const v1::DecodeField& entry);  // keypoints
FieldResult make_audio_field(const v1::DecodeField& entry);
// A number in decimal text; with `shape`, an array of elements T. Instantiated for the integer
// types, float and double.
template <typename T>
FieldResult make_value_field(const v1::DecodeField& entry);
FieldResult make_array_field(shm::DType dtype, const Shape& shape, bool ragged);

// Boxes, labels and flags of a file of annotations.
template <ReadAnnotations reader>
FieldResult make_box_field(const v1::DecodeField& entry);
template <ReadAnnotations reader>
FieldResult make_label_field(const v1::DecodeField& entry);
template <ReadAnnotations reader>
FieldResult make_flag_field(const v1::DecodeField& entry);
// Class ids drawn from the outlines of a file of annotations.
template <ReadAnnotations reader>
FieldResult make_outline_mask_field(const v1::DecodeField& entry);

// Masks of single objects, from the outlines of a file of annotations.
template <ReadAnnotations reader>
FieldResult make_outlines_field(const v1::DecodeField& entry);
FieldResult make_numbers_field(const v1::DecodeField& entry);  // object_masks

// The type of a mask: its ids' type, `ignore` and `shape`.
Result<FieldType> mask_type(const v1::DecodeField& entry);
// The type of a field with one element for each object of a file of annotations.
Result<FieldType> objects_type(const v1::DecodeField& entry, shm::DType dtype);
// Sets `pairs` of key points, whose shape is set.
Status set_pairs(const v1::DecodeField& entry, FieldType& type);

// The entry's shape, checked: no size is 0, at most kRankMax sizes, at most 2 GiB in total.
Result<Shape> shape_of(const v1::DecodeField& entry, shm::DType dtype);

// Bytes as quoted text for an error message: at most 32 bytes, unprintable ones as \x...
std::string quoted(std::span<const std::byte> bytes);

}  // namespace echoline::decode
