#include "augment/crop.h"

#include <algorithm>
#include <cstring>

namespace echoline::augment {
namespace {

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

// The part of the crop that is within a picture of size `in`; it can be empty.
Box inside(const Corner& corner, const ImageSize& size, const ImageSize& in) {
  const Span rows = within(corner.top, size.height, in.height);
  const Span columns = within(corner.left, size.width, in.width);
  return {rows.begin, columns.begin, rows.length, columns.length};
}

bool is_empty(const Box& box) { return box.height == 0 || box.width == 0; }

void copy_padded(const Picture& picture, const Corner& corner, const ImageSize& size,
                 std::uint8_t fill, std::uint8_t* out) {
  const Box box = inside(corner, size, picture.size());
  const std::uint32_t channels = picture.channels();
  // Fills everything first: simpler than four borders, and padding is rare.
  std::memset(out, fill, size.pixels() * channels);
  if (is_empty(box)) return;
  const View part = picture.crop(box);
  const std::size_t row_bytes = std::size_t{size.width} * channels;
  out += static_cast<std::size_t>(box.top - corner.top) * row_bytes +
         static_cast<std::size_t>(box.left - corner.left) * channels;
  for (std::uint32_t y = 0; y < box.height; ++y, out += row_bytes) {
    copy_pixels(part.crop({y, 0, 1, box.width}), out);
  }
}

}  // namespace

std::optional<Box> Crop::part(const UseKey& key, const ImageSize& in) const {
  const Box box = inside(corner(key, in), size_, in);
  return is_empty(box) ? std::nullopt : std::optional(box);
}

void Crop::move(const UseKey& key, const ImageSize& in, Mover& mover) const {
  const Corner at = corner(key, in);
  mover.cut(at.top, at.left, size_);
}

void Crop::apply(const Work& work, Picture& picture, bool in_row) const {
  const Corner at = corner(work.key, picture.size());
  const Box box = inside(at, size_, picture.size());
  if (box.height == size_.height && box.width == size_.width) {
    picture.set_view(picture.crop(box));
    return;
  }
  std::uint8_t* room = picture.room(size_, in_row);
  copy_padded(picture, at, size_, fill_, room);
  picture.take(room, size_, false);
}

}  // namespace echoline::augment
