// Masks from PNG files: `as: mask` and `as: mask16`, class ids [height, width].
#include <fmt/format.h>

#include <utility>

#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

class MaskField final : public Field {
 public:
  MaskField(FieldType type, bool exif) : type_(std::move(type)), exif_(exif) {}

  FieldType type() const override { return type_; }

  Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const override {
    ECHOLINE_ASSIGN(const ImageSize size, scratch.images.open(bytes, exif_));
    const Shape shape{{size.height, size.width}, 2};
    if (type_.fixed && shape != type_.shape) {
      return {Code::kInvalidArgument,
              fmt::format("the mask is {} high and {} wide; shape says {} and {}", size.height,
                          size.width, type_.shape.sizes[0], type_.shape.sizes[1])};
    }
    out.dtype = type_.dtype;
    out.shape = shape;
    const std::size_t id_bytes = shm::dtype_bytes(type_.dtype);
    out.bytes.resize(size.pixels() * id_bytes);
    return scratch.images.read_ids(id_bytes, reinterpret_cast<std::uint8_t*>(out.bytes.data()));
  }

 private:
  const FieldType type_;
  const bool exif_;
};

}  // namespace

Result<FieldType> mask_type(const v1::DecodeField& entry) {
  FieldType type;
  type.mask = true;
  type.dtype = entry.as().ends_with("16") ? shm::kUint16 : shm::kUint8;
  const std::uint32_t ignore = entry.has_ignore() ? entry.ignore() : type.ignore;
  const std::uint32_t most = type.dtype == shm::kUint16 ? UINT16_MAX : UINT8_MAX;
  if (ignore > most) {
    return Status(Code::kInvalidArgument, fmt::format("ignore is {}; 0 to {} is allowed with {}",
                                                      ignore, most, entry.as()));
  }
  type.ignore = static_cast<std::uint16_t>(ignore);
  ECHOLINE_ASSIGN(type.shape, shape_of(entry, type.dtype));
  if (type.shape.rank != 0 && type.shape.rank != 2) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("shape of a mask is [height, width]; {} sizes are given", type.shape.rank));
  }
  type.fixed = type.shape.rank == 2;
  type.shape.rank = 2;
  return type;
}

FieldResult make_mask_field(const v1::DecodeField& entry) {
  ECHOLINE_ASSIGN(FieldType type, mask_type(entry));
  return std::unique_ptr<Field>(new MaskField(std::move(type), entry.exif()));
}

}  // namespace echoline::decode
