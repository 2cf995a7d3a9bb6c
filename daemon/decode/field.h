// One entry of the decode step, compiled: how the bytes of one file become one tensor.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "decode/decoder.h"
#include "decode/image_decoder.h"
#include "decode/sample.h"

namespace echoline::v1 {
class DecodeField;
}

namespace echoline::decode {

// What one thread keeps between records.
struct Bench final : Scratch {
  ImageDecoder images;
};

// Immutable; any thread may read with a bench of its own.
class Field {
 public:
  virtual ~Field() = default;
  // Shape and type as far as known; the name is set by the caller.
  virtual FieldType type() const = 0;
  // The verdict on the bytes; messages say the reason, the caller adds field and key.
  virtual Status read(std::span<const std::byte> bytes, Bench& bench, Tensor& out) const = 0;
};

using FieldResult = Result<std::unique_ptr<Field>>;

// Each takes the entries whose `as` it knows; errors (kInvalidArgument) say what is allowed.
FieldResult make_image_field(const v1::DecodeField& entry);  // rgb, gray
FieldResult make_number_field(shm::DType dtype);             // a type without shape
FieldResult make_array_field(shm::DType dtype, const Shape& shape);
FieldResult make_text_field(const v1::DecodeField& entry);  // text, bytes

// The sizes of the entry's shape, checked: none is 0, at most kRankMax, at most 2 GiB in all.
Result<Shape> shape_of(const v1::DecodeField& entry, shm::DType dtype);

// Bytes as text for an error: at most 32, what is not printable as \x...
std::string quoted(std::span<const std::byte> bytes);

}  // namespace echoline::decode
