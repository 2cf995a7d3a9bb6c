// The steps resize and random_resized_crop. They also do a horizontal flip that follows, because
// the resize can write mirrored pixels at no extra cost.
#include <fmt/format.h>

#include <algorithm>

#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

struct FusedFlip {
  std::uint8_t step;
  double probability;
};

// Resizes a part of the picture. Derived classes choose the part and the size.
class Resample : public Op {
 public:
  explicit Resample(Filter filter) : filter_(filter) {}

  // One flip only: a second one is a step of its own.
  bool fuse_flip(std::uint8_t step, double probability) override {
    if (flip_) return false;
    flip_ = FusedFlip{step, probability};
    return true;
  }

  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const View source = picture.view().crop(part(work.key, picture.view().size));
    const ImageSize size = target(source.size);
    const bool flip = flip_ && flip_drawn(work.key, flip_->step, flip_->probability);
    if (source.size == size) {  // a crop without a resize copies nothing
      View view = source;
      view.mirrored = source.mirrored != flip;
      picture.set_view(view);
      return;
    }
    std::uint8_t* room = picture.room(size, in_row);
    const bool mirrored = resize(source, size, filter_, flip, work.resize, room);
    picture.take(room, size, mirrored);
  }

 private:
  virtual Box part(const UseKey& key, const ImageSize& in) const = 0;
  virtual ImageSize target(const ImageSize& part) const = 0;

  const Filter filter_;
  std::optional<FusedFlip> flip_;
};

class ResizeOp final : public Resample {
 public:
  ResizeOp(Filter filter, const ImageSize& size, bool shorter_side)
      : Resample(filter), size_(size), shorter_side_(shorter_side) {}

  std::optional<ImageSize> fixed_size() const override {
    return shorter_side_ ? std::nullopt : std::optional(size_);
  }

  Result<ImageSize> size_after(const ImageSize& in) const override {
    const std::uint64_t shorter = std::min(in.height, in.width);
    const std::uint64_t longer = std::max(in.height, in.width);
    // A 1-pixel strip would get a longer side that does not fit 32 bits.
    if (shorter_side_ && size_.height * longer / shorter > UINT32_MAX) {
      return Status(Code::kResourceExhausted,
                    fmt::format("the longer side of {} x {} pixels would be far too long",
                                in.height, in.width));
    }
    const ImageSize size = target(in);
    ECHOLINE_TRY(check_pixels(size));
    return size;
  }

 private:
  Box part(const UseKey&, const ImageSize& in) const override {
    return {0, 0, in.height, in.width};
  }

  ImageSize target(const ImageSize& in) const override {
    if (!shorter_side_) return size_;
    const std::uint32_t side = size_.height;
    const auto scaled = [side](std::uint64_t longer, std::uint64_t shorter) {
      return static_cast<std::uint32_t>(side * longer / shorter);  // truncated, as torchvision does
    };
    if (in.width <= in.height) return {scaled(in.height, in.width), side};
    return {side, scaled(in.width, in.height)};
  }

  const ImageSize size_;
  const bool shorter_side_;
};

class RandomResizedCropOp final : public Resample {
 public:
  RandomResizedCropOp(Filter filter, const ImageSize& size, const Range& scale, const Range& ratio,
                      std::uint8_t step)
      : Resample(filter), size_(size), scale_(scale), ratio_(ratio), step_(step) {}

  std::optional<ImageSize> fixed_size() const override { return size_; }
  Result<ImageSize> size_after(const ImageSize&) const override { return size_; }

 private:
  Box part(const UseKey& key, const ImageSize& in) const override {
    return random_resized_crop_box(key, step_, in.height, in.width, scale_, ratio_);
  }
  ImageSize target(const ImageSize&) const override { return size_; }

  const ImageSize size_;
  const Range scale_;
  const Range ratio_;
  const std::uint8_t step_;
};

Result<Range> range_of(const google::protobuf::RepeatedField<double>& values, const char* name,
                       const Range& otherwise) {
  if (values.empty()) return otherwise;
  if (values.size() == 2 && values[0] > 0 && values[0] <= values[1] && values[1] < 1e6) {
    return Range{values[0], values[1]};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is [{}]; two numbers above 0 are allowed, the smaller one first",
                            name, fmt::join(values, ", ")));
}

Status compile_resize(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const v1::Resize& settings = step.resize();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  ECHOLINE_ASSIGN(const Filter filter, filter_of(settings.interpolation()));
  const bool shorter_side = settings.size_size() == 1;
  return program.append(std::make_unique<ResizeOp>(filter, size, shorter_side));
}

Status compile_random_resized_crop(const v1::Step& step, std::uint8_t number,
                                   FieldProgram& program) {
  const v1::RandomResizedCrop& settings = step.random_resized_crop();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  ECHOLINE_ASSIGN(const Filter filter, filter_of(settings.interpolation()));
  ECHOLINE_ASSIGN(const Range scale, range_of(settings.scale(), "scale", {0.08, 1.0}));
  ECHOLINE_ASSIGN(const Range ratio, range_of(settings.ratio(), "ratio", {3.0 / 4.0, 4.0 / 3.0}));
  return program.append(std::make_unique<RandomResizedCropOp>(filter, size, scale, ratio, number));
}

}  // namespace

const Transform kResize{v1::Step::kResize, compile_resize};
const Transform kRandomResizedCrop{v1::Step::kRandomResizedCrop, compile_random_resized_crop};

}  // namespace echoline::augment
