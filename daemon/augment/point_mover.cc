#include "augment/point_mover.h"

#include <algorithm>

namespace echoline::augment {
namespace {

constexpr std::size_t kNumbers = 3;  // of a point
constexpr float kHalf = 0.5F;        // from the edge of a pixel to its centre

// A coordinate of a point on a side of so many pixels. NaN is on none.
bool is_on(float at, std::uint32_t side) {
  return at >= -kHalf && at < static_cast<float>(side) - kHalf;
}

}  // namespace

template <typename Change>
void PointMover::change(const Change& change) {
  for (std::size_t i = 0; i < points_.size(); i += kNumbers) {
    float* const point = points_.data() + i;
    if (point[2] > 0) change(point[0], point[1]);
  }
}

void PointMover::cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) {
  change([&](float& x, float& y) {
    x -= static_cast<float>(left);
    y -= static_cast<float>(top);
  });
  clip(size);
}

void PointMover::scale(const decode::ImageSize& from, const decode::ImageSize& to) {
  const auto wide = static_cast<float>(static_cast<double>(to.width) / from.width);
  const auto high = static_cast<float>(static_cast<double>(to.height) / from.height);
  change([&](float& x, float& y) {
    x = (x + kHalf) * wide - kHalf;
    y = (y + kHalf) * high - kHalf;
  });
}

void PointMover::mirror(std::uint32_t width) {
  const auto last = static_cast<float>(width - 1);
  change([&](float& x, float&) { x = last - x; });
  for (std::size_t object = 0; object < points_.size(); object += each_ * kNumbers) {
    for (std::size_t i = 0; i + 1 < pairs_.size(); i += 2) {
      float* const one = points_.data() + object + pairs_[i] * kNumbers;
      float* const other = points_.data() + object + pairs_[i + 1] * kNumbers;
      std::swap_ranges(one, one + kNumbers, other);
    }
  }
}

void PointMover::move(const recipes::Affine& back, const decode::ImageSize& size) {
  // A matrix counts from the corner of the picture.
  const recipes::Affine way = inverse(back);
  change([&](float& x, float& y) {
    const double column = x + 0.5;
    const double row = y + 0.5;
    x = static_cast<float>(way.a * column + way.b * row + way.c - 0.5);
    y = static_cast<float>(way.d * column + way.e * row + way.f - 0.5);
  });
  clip(size);
}

void PointMover::clip(const decode::ImageSize& size) {
  for (std::size_t i = 0; i < points_.size(); i += kNumbers) {
    float* const point = points_.data() + i;
    const bool stays = point[2] > 0 && is_on(point[0], size.width) && is_on(point[1], size.height);
    if (!stays) std::fill_n(point, kNumbers, 0.0F);
  }
}

}  // namespace echoline::augment
