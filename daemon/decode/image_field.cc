// Image fields: `as: rgb` and `as: gray`, uint8 [height, width, channels].
#include <fmt/format.h>

#include "decode/field.h"
#include "decode/reduced_region.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

class ImageField final : public Field {
 public:
  ImageField(Colors colors, ImageSize expected, const v1::DecodeField& entry)
      : colors_(colors), expected_(expected), exif_(entry.exif()), fast_(entry.fast()) {}

  FieldType type() const override {
    FieldType type;
    type.image = true;
    type.fixed = expected_.pixels() != 0;
    type.shape = shape(expected_);
    return type;
  }

  Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const override {
    const auto all = [](const ImageSize& size) { return Part{whole_picture(size)}; };
    return read_part(bytes, all, scratch, out);
  }

  Status read_part(std::span<const std::byte> bytes, const PartOf& part_of, Scratch& scratch,
                   Tensor& out) const override {
    ECHOLINE_ASSIGN(const ImageSize size, scratch.images.open(bytes, exif_));
    if (expected_.pixels() != 0 && size != expected_) {
      return {Code::kInvalidArgument,
              fmt::format("the image is {} high and {} wide; shape says {} and {}", size.height,
                          size.width, expected_.height, expected_.width)};
    }
    out.dtype = shm::kUint8;
    out.shape = shape(size);
    const Part part = part_of(size);
    out.reduction = fast_ ? scratch.images.reduce(part.reduction_max) : Reduction{};
    const Region region = reduced_region(part.region, size, out.reduction);
    out.part.reset();
    if (out.reduction.by != 1 || region != whole_picture(size)) out.part = region;
    out.bytes.resize(std::size_t{region.height} * region.width * channel_count(colors_));
    return scratch.images.read(region, colors_, reinterpret_cast<std::uint8_t*>(out.bytes.data()));
  }

 private:
  Shape shape(const ImageSize& size) const {
    return {{size.height, size.width, static_cast<std::uint32_t>(colors_)}, 3};
  }

  const Colors colors_;
  const ImageSize expected_;  // 0 x 0: any size
  const bool exif_;
  const bool fast_;
};

}  // namespace

FieldResult make_image_field(const v1::DecodeField& entry) {
  const Colors colors = entry.as() == "gray" ? Colors::kGray : Colors::kRgb;
  ECHOLINE_ASSIGN(const Shape shape, shape_of(entry, shm::kUint8));
  if (shape.rank != 0 && shape.rank != 2) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("shape of an image is [height, width]; {} sizes are given", shape.rank));
  }
  const ImageSize expected{shape.sizes[0], shape.sizes[1]};
  return std::unique_ptr<Field>(new ImageField(colors, expected, entry));
}

}  // namespace echoline::decode
