#include <cstring>

#include "recipes/blend.h"
#include "recipes/neighbours.h"

namespace echoline::recipes {
namespace {

// Pillow's filter SMOOTH: the pixel five times, its eight neighbours once, rounded.
inline int smooth(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                  std::size_t at, std::size_t channels) {
  const auto three = [at, channels](const std::uint8_t* line) {
    return line[at - channels] + line[at] + line[at + channels];
  };
  const int sum = three(above) + three(row) + three(below) + 4 * row[at];
  return (2 * sum + 13) / 26;
}

}  // namespace

void adjust_sharpness(const Pixels& in, float factor, std::uint8_t* out) {
  const std::size_t row_bytes = in.row_bytes();
  const std::size_t channels = in.channels;
  for (std::size_t y = 0; y < in.size.height; ++y, out += row_bytes) {
    const std::uint8_t* row = in.row(y);
    std::memcpy(out, row, row_bytes);
    if (y == 0 || y + 1 == in.size.height) continue;
    const std::uint8_t* above = in.row(y - 1);
    const std::uint8_t* below = in.row(y + 1);
    for (std::size_t i = channels; i + channels < row_bytes; ++i) {
      out[i] = blend(smooth(above, row, below, i, channels), row[i], factor);
    }
  }
}

}  // namespace echoline::recipes
