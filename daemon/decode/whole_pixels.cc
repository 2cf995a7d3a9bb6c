#include "decode/whole_pixels.h"

#include <cstring>

#include "decode/colors.h"

namespace echoline::decode {

void cut_region(const std::uint8_t* rgb, const ImageSize& size, const Region& region, Colors colors,
                std::uint8_t* out) {
  const std::size_t stride = std::size_t{size.width} * 3;
  const std::uint8_t* row = rgb + region.top * stride + std::size_t{region.left} * 3;
  const std::size_t row_bytes = region.width * channel_count(colors);
  for (std::uint32_t y = 0; y < region.height; ++y, row += stride, out += row_bytes) {
    if (colors == Colors::kGray) {
      rgb_to_gray(row, region.width, out);
    } else {
      std::memcpy(out, row, row_bytes);
    }
  }
}

}  // namespace echoline::decode
