// Moves boxes as an operation moves the pixels of their picture.
#pragma once

#include <span>

#include "augment/mover.h"

namespace echoline::augment {

// Boxes are left, top, right, bottom in pixels, with the arithmetic of torchvision.transforms.v2 in
// float32. They stay in their order; those that a cut leaves empty stay, too.
class BoxMover final : public Mover {
 public:
  // Four corners a box; they must outlive this.
  explicit BoxMover(std::span<float> corners) : corners_(corners) {}

  // Boxes are clipped.
  void cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) override;
  void scale(const decode::ImageSize& from, const decode::ImageSize& to) override;
  void mirror(std::uint32_t width) override;
  // A box becomes the smallest one around its four corners. Boxes are clipped.
  void move(const recipes::Affine& back, const decode::ImageSize& size) override;
  // Clips to a picture of this size.
  void clip(const decode::ImageSize& size);

 private:
  // corner = change(corner, whether it is of the width).
  template <typename Change>
  void change(const Change& change);

  const std::span<float> corners_;
};

}  // namespace echoline::augment
