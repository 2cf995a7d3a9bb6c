#include "augment/box_mover.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace echoline::augment {

template <typename Change>
void BoxMover::change(const Change& change) {
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    corners_[i] = change(corners_[i], i % 2 == 0);
  }
}

void BoxMover::cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) {
  const auto x = static_cast<float>(left);
  const auto y = static_cast<float>(top);
  change([&](float corner, bool wide) { return corner - (wide ? x : y); });
  clip(size);
}

void BoxMover::scale(const decode::ImageSize& from, const decode::ImageSize& to) {
  const auto x = static_cast<float>(static_cast<double>(to.width) / from.width);
  const auto y = static_cast<float>(static_cast<double>(to.height) / from.height);
  change([&](float corner, bool wide) { return corner * (wide ? x : y); });
}

void BoxMover::mirror(std::uint32_t width) {
  const auto edge = static_cast<float>(width);
  for (std::size_t i = 0; i < corners_.size(); i += 4) {
    const float left = corners_[i];
    corners_[i] = edge - corners_[i + 2];
    corners_[i + 2] = edge - left;
  }
}

void BoxMover::move(const recipes::Affine& back, const decode::ImageSize& size) {
  const recipes::Affine way = inverse(back);
  // The smallest and the largest value of a coordinate over the four corners.
  const auto extent = [](double x, double y, double offset, const float* box) {
    const auto [left, right] = std::minmax({x * box[0], x * box[2]});
    const auto [top, bottom] = std::minmax({y * box[1], y * box[3]});
    return std::pair(static_cast<float>(left + top + offset),
                     static_cast<float>(right + bottom + offset));
  };
  for (std::size_t i = 0; i < corners_.size(); i += 4) {
    float* box = corners_.data() + i;
    const auto columns = extent(way.a, way.b, way.c, box);
    const auto rows = extent(way.d, way.e, way.f, box);
    std::tie(box[0], box[2]) = columns;
    std::tie(box[1], box[3]) = rows;
  }
  clip(size);
}

void BoxMover::clip(const decode::ImageSize& size) {
  const auto x = static_cast<float>(size.width);
  const auto y = static_cast<float>(size.height);
  change([&](float corner, bool wide) { return std::clamp(corner, 0.0F, wide ? x : y); });
}

}  // namespace echoline::augment
