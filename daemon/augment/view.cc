#include "augment/view.h"

#include <algorithm>
#include <cstring>

namespace echoline::augment {
namespace {

// The number of channels is a template parameter, so that the compiler unrolls the inner loops.
template <std::size_t kChannels>
void copy_mirrored(const std::uint8_t* row, std::size_t width, std::uint8_t* out) {
  const std::uint8_t* pixel = row + width * kChannels;
  for (std::size_t x = 0; x < width; ++x, out += kChannels) {
    pixel -= kChannels;
    for (std::size_t c = 0; c < kChannels; ++c) out[c] = pixel[c];
  }
}

template <std::size_t kChannels>
void mirror_row(std::uint8_t* row, std::size_t width) {
  std::uint8_t* low = row;
  std::uint8_t* high = row + width * kChannels;
  for (std::size_t x = 0; x < width / 2; ++x, low += kChannels) {
    high -= kChannels;
    for (std::size_t c = 0; c < kChannels; ++c) std::swap(low[c], high[c]);
  }
}

}  // namespace

void copy_pixels(const View& view, std::uint8_t* out) {
  const std::size_t row_bytes = view.row_bytes();
  if (!view.mirrored && view.dense()) {
    std::memcpy(out, view.data, view.bytes());
    return;
  }
  for (std::size_t y = 0; y < view.size.height; ++y, out += row_bytes) {
    if (!view.mirrored) {
      std::memcpy(out, view.row(y), row_bytes);
    } else if (view.channels == 3) {
      copy_mirrored<3>(view.row(y), view.size.width, out);
    } else {
      copy_mirrored<1>(view.row(y), view.size.width, out);
    }
  }
}

void mirror_pixels(std::uint8_t* pixels, const ImageSize& size, std::uint32_t channels) {
  for (std::size_t y = 0; y < size.height; ++y, pixels += std::size_t{size.width} * channels) {
    if (channels == 3) {
      mirror_row<3>(pixels, size.width);
    } else {
      mirror_row<1>(pixels, size.width);
    }
  }
}

}  // namespace echoline::augment
