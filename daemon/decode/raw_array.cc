// Arrays with a configured shape: little-endian elements without a header, or a .npy file. Of a
// ragged one the first size is the largest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <string>
#include <utility>

#include "decode/field.h"
#include "decode/npy.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used as they are");

class ArrayField final : public Field {
 public:
  explicit ArrayField(FieldType type) : type_(std::move(type)) {}

  FieldType type() const override { return type_; }

  Status read(std::span<const std::byte> bytes, Scratch&, Tensor& out) const override {
    out.dtype = type_.dtype;
    out.shape = type_.shape;
    // Bytes of exactly the right length are elements, even if they look like a .npy header. Any
    // number of ragged elements is right, so there the header decides.
    if (is_npy(bytes) && (type_.ragged || bytes.size() != all_bytes())) {
      ECHOLINE_ASSIGN(const NpyHeader header, read_npy_header(bytes));
      ECHOLINE_TRY(check(header));
      out.shape = header.shape;
      bytes = bytes.subspan(header.bytes);
      if (bytes.size() != out.shape.elements() * shm::dtype_bytes(type_.dtype)) {
        return wrong_length(bytes.size());
      }
    } else if (type_.ragged) {
      if (bytes.size() % type_.inner_bytes() != 0) return wrong_length(bytes.size());
      if (bytes.size() > all_bytes()) return too_many(bytes.size() / type_.inner_bytes());
      out.shape.sizes[0] = static_cast<std::uint32_t>(bytes.size() / type_.inner_bytes());
    } else if (bytes.size() != all_bytes()) {
      return wrong_length(bytes.size());
    }
    out.borrowed = bytes;
    return {};
  }

 private:
  std::uint64_t all_bytes() const { return type_.shape.sizes[0] * type_.inner_bytes(); }

  std::string shape_text() const {
    std::string text = fmt::format("{}", fmt::join(type_.shape.span(), ", "));
    return type_.ragged ? "up to " + text : text;
  }

  Status wrong_length(std::size_t bytes) const {
    return {Code::kInvalidArgument,
            fmt::format("{} bytes; {} of shape [{}] have {}{}", bytes, shm::dtype_name(type_.dtype),
                        shape_text(), type_.ragged ? "a multiple of " : "",
                        type_.ragged ? type_.inner_bytes() : all_bytes())};
  }

  Status too_many(std::uint64_t elements) const {
    return {Code::kResourceExhausted,
            fmt::format("{} elements; shape allows up to {}", elements, type_.shape.sizes[0])};
  }

  Status check(const NpyHeader& header) const {
    Shape expected = type_.shape;
    if (type_.ragged && header.shape.rank > 0) {
      if (header.shape.sizes[0] > expected.sizes[0]) return too_many(header.shape.sizes[0]);
      expected.sizes[0] = header.shape.sizes[0];
    }
    if (header.dtype == type_.dtype && header.shape == expected) return {};
    return {Code::kInvalidArgument,
            fmt::format("the .npy file holds {} of shape [{}]; {} of shape [{}] is configured",
                        shm::dtype_name(header.dtype), fmt::join(header.shape.span(), ", "),
                        shm::dtype_name(type_.dtype), shape_text())};
  }

  const FieldType type_;
};

}  // namespace

FieldResult make_points_field(const v1::DecodeField& entry) {
  FieldType type;
  type.dtype = shm::kFloat32;
  type.ragged = true;
  type.points = true;
  ECHOLINE_ASSIGN(type.shape, shape_of(entry, type.dtype));
  if (type.shape.rank != 3 || type.shape.sizes[2] != 3) {
    return Status(Code::kInvalidArgument,
                  "shape of keypoints is [largest number of objects, points, 3]");
  }
  ECHOLINE_TRY(set_pairs(entry, type));
  return std::unique_ptr<Field>(new ArrayField(std::move(type)));
}

FieldResult make_array_field(shm::DType dtype, const Shape& shape, bool ragged) {
  FieldType type;
  type.dtype = dtype;
  type.shape = shape;
  type.fixed = !ragged;
  type.ragged = ragged;
  const std::uint32_t channels = shape.sizes[2];
  type.image =
      !ragged && dtype == shm::kUint8 && shape.rank == 3 && (channels == 1 || channels == 3);
  return std::unique_ptr<Field>(new ArrayField(std::move(type)));
}

}  // namespace echoline::decode
