#include "augment/op.h"
#include "base/check.h"

namespace echoline::augment {

View Picture::crop(const Box& box) const {
  ECHOLINE_CHECK(reduction_.by == 1 && box.top >= part_.top &&
                 box.top + box.height <= part_.top + part_.height && box.left >= part_.left &&
                 box.left + box.width <= part_.left + part_.width);
  return view_.crop({box.top - part_.top, box.left - part_.left, box.height, box.width});
}

const View& Picture::view() const {
  ECHOLINE_CHECK(view_.size == size_);
  return view_;
}

std::uint8_t* Picture::room(const ImageSize& size, bool in_row) {
  if (in_row) return reinterpret_cast<std::uint8_t*>(row_.data());
  buffers_[spare_].resize(size.pixels() * view_.channels);
  return reinterpret_cast<std::uint8_t*>(buffers_[spare_].data());
}

void Picture::take(const std::uint8_t* room, const ImageSize& size, bool mirrored) {
  View view = view_;
  view.data = room;
  view.size = size;
  view.stride = view.row_bytes();
  view.mirrored = mirrored;
  set_view(view);
  owned_ = true;
  // A buffer that now holds the view must not be the spare one.
  if (room == reinterpret_cast<std::uint8_t*>(buffers_[spare_].data())) spare_ = 1 - spare_;
}

std::uint8_t* Picture::editable(bool in_row) {
  const auto* row = reinterpret_cast<const std::uint8_t*>(row_.data());
  const bool in_place = owned_ && view_.dense() && (!in_row || view_.data == row);
  if (!in_place) {
    std::uint8_t* copy = room(view_.size, in_row);
    copy_pixels(view_, copy);
    take(copy, view_.size, false);
  }
  // Allowed: the pixels are in a buffer or in the row, which room() returned as mutable.
  return const_cast<std::uint8_t*>(view_.data);
}

const View& Picture::unmirrored() {
  if (view().mirrored) {
    std::uint8_t* copy = room(view_.size, false);
    copy_pixels(view_, copy);
    take(copy, view_.size, false);
  }
  return view_;
}

void Picture::settle() {
  auto* row = reinterpret_cast<std::uint8_t*>(row_.data());
  if (view_.data != row) return copy_pixels(view_, row);
  if (view_.mirrored) mirror_pixels(row, view_.size, view_.channels);
}

}  // namespace echoline::augment
