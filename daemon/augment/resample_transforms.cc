// The steps resize, letterbox and random_resized_crop. They also do a horizontal flip that follows,
// because the resize can write mirrored pixels at no extra cost. A resize does a crop that follows,
// too: it makes only these pixels.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "augment/crop.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

struct FusedFlip {
  std::uint8_t step;
  double probability;
};

// The pixels of `from` are resized to the size `to`, of which `window` is made.
struct Geometry {
  Box from;
  ImageSize to;
  Box window;

  Axis rows() const { return {from.height, to.height, window.top, window.height}; }
  Axis columns() const { return {from.width, to.width, window.left, window.width}; }
};

// [first, first + length) of a side of the picture, in pixels of a reduced one of which only those
// from `present` on are there. `origin` is where the first pixel of the reduced one begins.
Extent reduced(std::uint32_t first, std::uint32_t length, std::int32_t origin, std::uint32_t by,
               std::uint32_t present) {
  return {(static_cast<double>(first) - origin) / by - present, static_cast<double>(length) / by};
}

// Resizes a part of the picture. Derived classes choose the geometry.
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
    const Geometry geometry = geometry_of(work.key, picture.size());
    if (picture.reduction().by > 1) return apply_reduced(work, geometry, picture, in_row);
    const View source = picture.crop(pixels_of(geometry));
    const ImageSize size{geometry.window.height, geometry.window.width};
    const bool flip = flip_ && flip_drawn(work.key, flip_->step, flip_->probability);
    if (ImageSize{geometry.from.height, geometry.from.width} == geometry.to) {
      // A crop without a resize copies nothing.
      View view = source;
      view.mirrored = source.mirrored != flip;
      picture.set_view(view);
      return;
    }
    std::uint8_t* room = picture.room(size, in_row);
    const bool mirrored =
        resize(source, geometry.rows(), geometry.columns(), filter_, flip, work.resize, room);
    picture.take(room, size, mirrored);
  }

  bool moves_points() const override { return true; }
  void move(const UseKey& key, const ImageSize& in, Mover& mover) const override {
    const Geometry geometry = geometry_of(key, in);
    const ImageSize from{geometry.from.height, geometry.from.width};
    const ImageSize window{geometry.window.height, geometry.window.width};
    if (from != in) mover.cut(geometry.from.top, geometry.from.left, from);
    mover.scale(from, geometry.to);
    if (window != geometry.to) mover.cut(geometry.window.top, geometry.window.left, window);
    if (flip_ && flip_drawn(key, flip_->step, flip_->probability)) mover.mirror(window.width);
  }

  std::optional<Box> part(const UseKey& key, const ImageSize& in) const override {
    return pixels_of(geometry_of(key, in));
  }

  // As long as the reduced picture is not smaller than the result.
  std::uint32_t reduction_max(const UseKey& key, const ImageSize& in) const override {
    constexpr std::uint32_t kMost = 8;
    const Geometry geometry = geometry_of(key, in);
    const std::uint32_t ratio = std::min(geometry.from.height / geometry.to.height,
                                         geometry.from.width / geometry.to.width);
    return std::bit_floor(std::clamp(ratio, 1U, kMost));
  }

 protected:
  bool flips() const { return flip_.has_value(); }

 private:
  virtual Geometry geometry_of(const UseKey& key, const ImageSize& in) const = 0;

  // The crop's edges need not be edges of the reduced picture's pixels.
  void apply_reduced(const Work& work, const Geometry& geometry, Picture& picture,
                     bool in_row) const {
    const decode::Reduction& reduction = picture.reduction();
    const Box& part = picture.reduced_part();
    const Box& from = geometry.from;
    Axis rows = geometry.rows();
    rows.in = part.height;
    rows.extent = reduced(from.top, from.height, reduction.top, reduction.by, part.top);
    Axis columns = geometry.columns();
    columns.in = part.width;
    columns.extent = reduced(from.left, from.width, reduction.left, reduction.by, part.left);
    const SourceRange high = source_range(filter_, rows);
    const SourceRange wide = source_range(filter_, columns);
    const View source =
        picture.reduced_view().crop({high.first, wide.first, high.count, wide.count});
    const ImageSize size{geometry.window.height, geometry.window.width};
    const bool flip = flip_ && flip_drawn(work.key, flip_->step, flip_->probability);
    std::uint8_t* room = picture.room(size, in_row);
    picture.take(room, size, resize(source, rows, columns, filter_, flip, work.resize, room));
  }

  // The pixels that it needs.
  Box pixels_of(const Geometry& geometry) const {
    const SourceRange rows = source_range(filter_, geometry.rows());
    const SourceRange columns = source_range(filter_, geometry.columns());
    return {geometry.from.top + rows.first, geometry.from.left + columns.first, rows.count,
            columns.count};
  }

  const Filter filter_;
  std::optional<FusedFlip> flip_;
};

// How the size of the result depends on the picture.
enum class Sizing : std::uint8_t {
  kExact,        // not at all
  kShorterSide,  // keeps the ratio; both sides of the size are the shorter side
  kWithin,       // keeps the ratio; the largest result that fits into the size
};

class ResizeOp final : public Resample {
 public:
  // `longer_max`: for kShorterSide, the largest longer side; 0: any.
  ResizeOp(Filter filter, const ImageSize& size, Sizing sizing, std::uint32_t longer_max = 0)
      : Resample(filter), size_(size), sizing_(sizing), longer_max_(longer_max) {}

  std::optional<ImageSize> fixed_size() const override {
    if (crop_ != nullptr) return crop_->size();
    return sizing_ == Sizing::kExact ? std::optional(size_) : std::nullopt;
  }

  // Only a crop that is within the resized picture, whatever the size of the input is.
  void fuse_crop(std::unique_ptr<Crop>& crop) override {
    if (crop_ != nullptr || flips() || !crop->stays_within()) return;
    // The longer side's maximum can make the shorter side shorter than size_.
    if (sizing_ == Sizing::kWithin || longer_max_ > 0) return;
    if (crop->size().height <= size_.height && crop->size().width <= size_.width) {
      crop_ = std::move(crop);
    }
  }

  Result<ImageSize> size_after(const ImageSize& in) const override {
    const std::uint64_t shorter = std::min(in.height, in.width);
    const std::uint64_t longer = std::max(in.height, in.width);
    // A 1-pixel strip would get a longer side that does not fit 32 bits.
    if (sizing_ == Sizing::kShorterSide && longer_max_ == 0 &&
        size_.height * longer / shorter > UINT32_MAX) {
      return Status(Code::kResourceExhausted,
                    fmt::format("the longer side of {} x {} pixels would be far too long",
                                in.height, in.width));
    }
    const ImageSize size = target(in);
    ECHOLINE_TRY(check_pixels(size));
    return crop_ == nullptr ? size : crop_->size();
  }

 private:
  Geometry geometry_of(const UseKey& key, const ImageSize& in) const override {
    const ImageSize to = target(in);
    if (crop_ == nullptr) return {decode::whole_picture(in), to, decode::whole_picture(to)};
    const Corner corner = crop_->corner(key, to);
    const Box window{static_cast<std::uint32_t>(corner.top),
                     static_cast<std::uint32_t>(corner.left), crop_->size().height,
                     crop_->size().width};
    return {decode::whole_picture(in), to, window};
  }

  ImageSize target(const ImageSize& in) const {
    switch (sizing_) {
      case Sizing::kExact:
        return size_;
      case Sizing::kWithin:
        return within(in);
      case Sizing::kShorterSide:
        return by_shorter_side(in);
    }
    return size_;
  }

  // Divisions are truncated, as torchvision does.
  ImageSize by_shorter_side(const ImageSize& in) const {
    std::uint64_t shorter = size_.height;
    std::uint64_t longer = shorter * std::max(in.height, in.width) / std::min(in.height, in.width);
    if (longer_max_ > 0 && longer > longer_max_) {
      shorter = std::max<std::uint64_t>(1, longer_max_ * shorter / longer);
      longer = longer_max_;
    }
    const auto high = static_cast<std::uint32_t>(in.width <= in.height ? longer : shorter);
    const auto wide = static_cast<std::uint32_t>(in.width <= in.height ? shorter : longer);
    return {high, wide};
  }

  ImageSize within(const ImageSize& in) const {
    const double ratio = std::min(static_cast<double>(size_.height) / in.height,
                                  static_cast<double>(size_.width) / in.width);
    const auto scaled = [ratio](std::uint32_t side, std::uint32_t most) {
      const double rounded = std::nearbyint(side * ratio);
      return static_cast<std::uint32_t>(std::clamp(rounded, 1.0, static_cast<double>(most)));
    };
    return {scaled(in.height, size_.height), scaled(in.width, size_.width)};
  }

  const ImageSize size_;
  const Sizing sizing_;
  const std::uint32_t longer_max_;
  std::unique_ptr<Crop> crop_;  // of the resized picture
};

// Fills a picture that is at most as large up to a size, evenly on both sides.
class PadOp final : public Crop {
 public:
  using Crop::Crop;

  Result<ImageSize> size_after(const ImageSize&) const override { return size(); }
  // No resize may take it over: its results can be smaller.
  bool stays_within() const override { return false; }
  Corner corner(const UseKey&, const ImageSize& in) const override {
    return {-std::int64_t{(size().height - in.height) / 2},
            -std::int64_t{(size().width - in.width) / 2}};
  }
};

class RandomResizedCropOp final : public Resample {
 public:
  RandomResizedCropOp(Filter filter, const ImageSize& size, const Range& scale, const Range& ratio,
                      std::uint8_t step)
      : Resample(filter), size_(size), scale_(scale), ratio_(ratio), step_(step) {}

  std::optional<ImageSize> fixed_size() const override { return size_; }
  Result<ImageSize> size_after(const ImageSize&) const override { return size_; }

 private:
  Geometry geometry_of(const UseKey& key, const ImageSize& in) const override {
    return {random_resized_crop_box(key, step_, in.height, in.width, scale_, ratio_), size_,
            decode::whole_picture(size_)};
  }

  const ImageSize size_;
  const Range scale_;
  const Range ratio_;
  const std::uint8_t step_;
};

Status compile_resize(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const v1::Resize& settings = step.resize();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  ECHOLINE_ASSIGN(const Filter filter, filter_of(settings.interpolation()));
  const bool one_number = settings.size_size() == 1;
  if (settings.has_max_size() && (!one_number || settings.max_size() <= size.height)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("max_size is {}; it is for one number as size, and more than that",
                              settings.max_size()));
  }
  const Sizing sizing = one_number ? Sizing::kShorterSide : Sizing::kExact;
  return program.append(std::make_unique<ResizeOp>(filter, size, sizing, settings.max_size()));
}

Status compile_letterbox(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const v1::Letterbox& settings = step.letterbox();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  ECHOLINE_ASSIGN(const Filter filter, filter_of(settings.interpolation()));
  if (settings.fill() > 255) {
    return Status(Code::kInvalidArgument,
                  fmt::format("fill is {}; 0 to 255 is allowed", settings.fill()));
  }
  ECHOLINE_TRY(program.append(std::make_unique<ResizeOp>(filter, size, Sizing::kWithin)));
  return program.append_crop(
      std::make_unique<PadOp>(size, static_cast<std::uint8_t>(settings.fill())));
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

const Transform kResize{.step = v1::Step::kResize, .compile = compile_resize, .is_pure = true};
const Transform kLetterbox{
    .step = v1::Step::kLetterbox, .compile = compile_letterbox, .is_pure = true};
const Transform kRandomResizedCrop{v1::Step::kRandomResizedCrop, compile_random_resized_crop};

}  // namespace echoline::augment
