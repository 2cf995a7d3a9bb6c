// Arrays with a configured shape: little-endian elements without a header, or a .npy file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "decode/field.h"
#include "decode/npy.h"

namespace echoline::decode {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used as they are");

class ArrayField final : public Field {
 public:
  ArrayField(shm::DType dtype, const Shape& shape)
      : dtype_(dtype), shape_(shape), bytes_(shape.elements() * shm::dtype_bytes(dtype)) {}

  FieldType type() const override {
    FieldType type;
    type.dtype = dtype_;
    type.shape = shape_;
    type.fixed = true;
    const std::uint32_t channels = shape_.sizes[2];
    type.image = dtype_ == shm::kUint8 && shape_.rank == 3 && (channels == 1 || channels == 3);
    return type;
  }

  Status read(std::span<const std::byte> bytes, Scratch&, Tensor& out) const override {
    // Bytes of exactly the right length are elements, even if they look like a .npy header.
    if (bytes.size() != bytes_) {
      if (!is_npy(bytes)) return wrong_length(bytes.size());
      ECHOLINE_ASSIGN(const NpyHeader header, read_npy_header(bytes));
      ECHOLINE_TRY(check(header));
      bytes = bytes.subspan(header.bytes);
      if (bytes.size() != bytes_) return wrong_length(bytes.size());
    }
    out.dtype = dtype_;
    out.shape = shape_;
    out.borrowed = bytes;
    return {};
  }

 private:
  Status wrong_length(std::size_t bytes) const {
    return {Code::kInvalidArgument,
            fmt::format("{} bytes; {} of shape [{}] have {}", bytes, shm::dtype_name(dtype_),
                        fmt::join(shape_.span(), ", "), bytes_)};
  }

  Status check(const NpyHeader& header) const {
    if (header.dtype == dtype_ && header.shape == shape_) return {};
    return {Code::kInvalidArgument,
            fmt::format("the .npy file holds {} of shape [{}]; {} of shape [{}] is configured",
                        shm::dtype_name(header.dtype), fmt::join(header.shape.span(), ", "),
                        shm::dtype_name(dtype_), fmt::join(shape_.span(), ", "))};
  }

  const shm::DType dtype_;
  const Shape shape_;
  const std::size_t bytes_;
};

}  // namespace

FieldResult make_array_field(shm::DType dtype, const Shape& shape) {
  return std::unique_ptr<Field>(new ArrayField(dtype, shape));
}

}  // namespace echoline::decode
