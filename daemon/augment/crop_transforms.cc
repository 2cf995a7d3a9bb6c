// The steps center_crop and random_crop.
#include <fmt/format.h>

#include "augment/crop.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

class CenterCropOp final : public Crop {
 public:
  explicit CenterCropOp(const ImageSize& size) : Crop(size, 0) {}

  Result<ImageSize> size_after(const ImageSize&) const override { return size(); }
  bool stays_within() const override { return true; }
  Corner corner(const UseKey&, const ImageSize& in) const override {
    return {first(in.height, size().height), first(in.width, size().width)};
  }

 private:
  // torchvision's rounding: Python's round() (half to even) when cutting, half down when padding.
  static std::int64_t first(std::uint32_t in, std::uint32_t out) {
    if (out > in) return -static_cast<std::int64_t>((out - in) / 2);
    const std::uint32_t surplus = in - out;
    const std::uint32_t half = surplus / 2;
    return surplus % 2 == 1 && half % 2 == 1 ? half + 1 : half;
  }
};

class RandomCropOp final : public Crop {
 public:
  RandomCropOp(const ImageSize& size, std::uint32_t padding, std::uint8_t fill, std::uint8_t step)
      : Crop(size, fill), padding_(padding), step_(step) {}

  bool stays_within() const override { return padding_ == 0; }

  Result<ImageSize> size_after(const ImageSize& in) const override {
    const ImageSize padded = padded_size(in);
    if (padded.height >= size().height && padded.width >= size().width) return size();
    return Status(
        Code::kInvalidArgument,
        fmt::format("a crop of {} x {} does not fit in {} x {} pixels with padding {}; a resize "
                    "before it, or more padding, makes room",
                    size().height, size().width, in.height, in.width, padding_));
  }

  Corner corner(const UseKey& key, const ImageSize& in) const override {
    const ImageSize padded = padded_size(in);
    const Box box =
        random_crop_box(key, step_, padded.height, padded.width, size().height, size().width);
    return {std::int64_t{box.top} - padding_, std::int64_t{box.left} - padding_};
  }

 private:
  ImageSize padded_size(const ImageSize& in) const {
    return {in.height + 2 * padding_, in.width + 2 * padding_};
  }

  const std::uint32_t padding_;
  const std::uint8_t step_;
};

Status compile_center_crop(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const v1::CenterCrop& settings = step.center_crop();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  return program.append_crop(std::make_unique<CenterCropOp>(size));
}

Status compile_random_crop(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::RandomCrop& settings = step.random_crop();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  if (settings.padding() > 65535 || settings.fill() > 255) {
    return Status(Code::kInvalidArgument,
                  fmt::format("padding is {} and fill {}; at most 65535 and 255 are allowed",
                              settings.padding(), settings.fill()));
  }
  return program.append_crop(std::make_unique<RandomCropOp>(
      size, settings.padding(), static_cast<std::uint8_t>(settings.fill()), number));
}

}  // namespace

const Transform kCenterCrop{
    .step = v1::Step::kCenterCrop, .compile = compile_center_crop, .is_pure = true};
const Transform kRandomCrop{v1::Step::kRandomCrop, compile_random_crop};

}  // namespace echoline::augment
