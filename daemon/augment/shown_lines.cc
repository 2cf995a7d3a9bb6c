#include "augment/shown_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace echoline::augment {
namespace {

using Lines = std::vector<std::uint32_t>;

void cut_lines(Lines& lines, Lines& spare, std::int64_t first, std::uint32_t count) {
  spare.assign(count, kAddedLine);
  const auto size = static_cast<std::int64_t>(lines.size());
  const std::int64_t begin = std::clamp<std::int64_t>(first, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(first + count, 0, size);
  if (begin < end)
    std::copy(lines.begin() + begin, lines.begin() + end, spare.begin() + (begin - first));
  std::swap(lines, spare);
}

// The rule of torch's `interpolate` with mode "nearest", in float32 as there.
void scale_lines(Lines& lines, Lines& spare, std::uint32_t to) {
  const auto from = static_cast<std::uint32_t>(lines.size());
  const float step = static_cast<float>(from) / static_cast<float>(to);
  spare.resize(to);
  for (std::uint32_t i = 0; i < to; ++i) {
    const auto at = static_cast<std::uint32_t>(std::floor(static_cast<float>(i) * step));
    spare[i] = lines[std::min(at, from - 1)];
  }
  std::swap(lines, spare);
}

}  // namespace

void ShownLines::start(const decode::ImageSize& size) {
  rows.resize(size.height);
  columns.resize(size.width);
  std::iota(rows.begin(), rows.end(), 0U);
  std::iota(columns.begin(), columns.end(), 0U);
}

void ShownLines::cut(std::int64_t top, std::int64_t left, const decode::ImageSize& size) {
  cut_lines(rows, spare, top, size.height);
  cut_lines(columns, spare, left, size.width);
}

void ShownLines::scale(const decode::ImageSize& to) {
  scale_lines(rows, spare, to.height);
  scale_lines(columns, spare, to.width);
}

void ShownLines::mirror() { std::ranges::reverse(columns); }

}  // namespace echoline::augment
