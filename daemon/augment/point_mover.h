// Moves key points as an operation moves the pixels of their picture.
#pragma once

#include <cstddef>
#include <span>

#include "augment/mover.h"

namespace echoline::augment {

// Points are x, y and visibility, with x and y as COCO counts them: a pixel's centre has whole
// numbers. A point that is not visible, or leaves the picture, becomes (0, 0, 0) for good.
class PointMover final : public Mover {
 public:
  // `each` points an object, three numbers a point. A mirror exchanges the points of `pairs`, two
  // by two. Both spans must outlive this.
  PointMover(std::span<float> points, std::size_t each, std::span<const std::uint32_t> pairs)
      : points_(points), each_(each), pairs_(pairs) {}

  void cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) override;
  void scale(const decode::ImageSize& from, const decode::ImageSize& to) override;
  void mirror(std::uint32_t width) override;
  void move(const recipes::Affine& back, const decode::ImageSize& size) override;
  // Points outside of a picture of this size become (0, 0, 0).
  void clip(const decode::ImageSize& size);

 private:
  // `change`(x, y) of each visible point; both are references.
  template <typename Change>
  void change(const Change& change);

  const std::span<float> points_;
  const std::size_t each_;
  const std::span<const std::uint32_t> pairs_;
};

}  // namespace echoline::augment
