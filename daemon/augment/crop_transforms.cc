// The steps center_crop and random_crop. A crop within the picture only changes the view; a crop
// with padding copies pixels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

// The top left corner of a crop, in pixels of the picture; negative in the padding.
struct Corner {
  std::int64_t top = 0;
  std::int64_t left = 0;
};

// The part of [first, first + length) within [0, size).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t length = 0;
};

Span within(std::int64_t first, std::uint32_t length, std::uint32_t size) {
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(first + length, 0, size);
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
}

void copy_padded(const View& view, const Corner& corner, const ImageSize& size, std::uint8_t fill,
                 std::uint8_t* out) {
  const Span rows = within(corner.top, size.height, view.size.height);
  const Span columns = within(corner.left, size.width, view.size.width);
  // Fills everything first: simpler than four borders, and padding is rare.
  std::memset(out, fill, size.pixels() * view.channels);
  if (rows.length == 0 || columns.length == 0) return;
  const View part = view.crop({rows.begin, columns.begin, rows.length, columns.length});
  const std::size_t row_bytes = std::size_t{size.width} * view.channels;
  out += static_cast<std::size_t>(rows.begin - corner.top) * row_bytes +
         static_cast<std::size_t>(columns.begin - corner.left) * view.channels;
  for (std::uint32_t y = 0; y < rows.length; ++y, out += row_bytes) {
    copy_pixels(part.crop({y, 0, 1, columns.length}), out);
  }
}

void crop(Picture& picture, const Corner& corner, const ImageSize& size, std::uint8_t fill,
          bool in_row) {
  const ImageSize& in = picture.view().size;
  const Span rows = within(corner.top, size.height, in.height);
  const Span columns = within(corner.left, size.width, in.width);
  if (rows.length == size.height && columns.length == size.width) {
    picture.set_view(picture.view().crop({rows.begin, columns.begin, size.height, size.width}));
    return;
  }
  std::uint8_t* room = picture.room(size, in_row);
  copy_padded(picture.view(), corner, size, fill, room);
  picture.take(room, size, false);
}

class CenterCropOp final : public Op {
 public:
  explicit CenterCropOp(const ImageSize& size) : size_(size) {}

  std::optional<ImageSize> fixed_size() const override { return size_; }
  Result<ImageSize> size_after(const ImageSize&) const override { return size_; }

  void apply(const Work&, Picture& picture, bool in_row) const override {
    const ImageSize& in = picture.view().size;
    crop(picture, {first(in.height, size_.height), first(in.width, size_.width)}, size_, 0, in_row);
  }

 private:
  // torchvision's rounding: Python's round() (half to even) when cutting, half down when padding.
  static std::int64_t first(std::uint32_t in, std::uint32_t out) {
    if (out > in) return -static_cast<std::int64_t>((out - in) / 2);
    const std::uint32_t surplus = in - out;
    const std::uint32_t half = surplus / 2;
    return surplus % 2 == 1 && half % 2 == 1 ? half + 1 : half;
  }

  const ImageSize size_;
};

class RandomCropOp final : public Op {
 public:
  RandomCropOp(const ImageSize& size, std::uint32_t padding, std::uint8_t fill, std::uint8_t step)
      : size_(size), padding_(padding), fill_(fill), step_(step) {}

  std::optional<ImageSize> fixed_size() const override { return size_; }

  Result<ImageSize> size_after(const ImageSize& in) const override {
    const ImageSize padded = padded_size(in);
    if (padded.height >= size_.height && padded.width >= size_.width) return size_;
    return Status(Code::kInvalidArgument,
                  fmt::format("a crop of {} x {} does not fit in {} x {} pixels with padding {}",
                              size_.height, size_.width, in.height, in.width, padding_));
  }

  void apply(const Work& work, Picture& picture, bool in_row) const override {
    const ImageSize padded = padded_size(picture.view().size);
    const Box box =
        random_crop_box(work.key, step_, padded.height, padded.width, size_.height, size_.width);
    const Corner corner{std::int64_t{box.top} - padding_, std::int64_t{box.left} - padding_};
    crop(picture, corner, size_, fill_, in_row);
  }

 private:
  ImageSize padded_size(const ImageSize& in) const {
    return {in.height + 2 * padding_, in.width + 2 * padding_};
  }

  const ImageSize size_;
  const std::uint32_t padding_;
  const std::uint8_t fill_;
  const std::uint8_t step_;
};

Status compile_center_crop(const v1::Step& step, std::uint8_t, FieldProgram& program) {
  const v1::CenterCrop& settings = step.center_crop();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  return program.append(std::make_unique<CenterCropOp>(size));
}

Status compile_random_crop(const v1::Step& step, std::uint8_t number, FieldProgram& program) {
  const v1::RandomCrop& settings = step.random_crop();
  ECHOLINE_ASSIGN(const ImageSize size, size_of(settings.size()));
  if (settings.padding() > 65535 || settings.fill() > 255) {
    return Status(Code::kInvalidArgument,
                  fmt::format("padding is {} and fill {}; at most 65535 and 255 are allowed",
                              settings.padding(), settings.fill()));
  }
  return program.append(std::make_unique<RandomCropOp>(
      size, settings.padding(), static_cast<std::uint8_t>(settings.fill()), number));
}

}  // namespace

const Transform kCenterCrop{v1::Step::kCenterCrop, compile_center_crop};
const Transform kRandomCrop{v1::Step::kRandomCrop, compile_random_crop};

}  // namespace echoline::augment
