// What follows when an operation moves the pixels of a picture: boxes, key points, a mask.
#pragma once

#include <cstdint>

#include "decode/image_reader.h"
#include "recipes/affine.h"

namespace echoline::augment {

class Mover {
 public:
  virtual ~Mover() = default;
  // The picture becomes `size` pixels from (top, left) on, which may lie in a padding.
  virtual void cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) = 0;
  virtual void scale(const decode::ImageSize& from, const decode::ImageSize& to) = 0;
  // Left to right.
  virtual void mirror(std::uint32_t width) = 0;
  // `back` is the way of points from the result to a picture of this size, which the result has,
  // too.
  virtual void move(const recipes::Affine& back, const decode::ImageSize& size) = 0;
};

}  // namespace echoline::augment
