// For formats whose library can only decode whole pictures, as RGB.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "decode/image_reader.h"

namespace echoline::decode {

// Writes a region of dense RGB pixels in the wanted colours.
void cut_region(const std::uint8_t* rgb, const ImageSize& size, const Region& region, Colors colors,
                std::uint8_t* out);

// Lets `decode`(std::uint8_t* rgb) -> Status write all pixels, to `out` itself if that is what is
// wanted, else to `whole`.
template <typename Decode>
Status read_whole(const ImageSize& size, const Region& region, Colors colors, Buffer& whole,
                  std::uint8_t* out, const Decode& decode) {
  if (colors == Colors::kRgb && region == whole_picture(size)) return decode(out);
  whole.resize(size.pixels() * channel_count(Colors::kRgb));
  auto* rgb = reinterpret_cast<std::uint8_t*>(whole.data());
  ECHOLINE_TRY(decode(rgb));
  cut_region(rgb, size, region, colors, out);
  return {};
}

}  // namespace echoline::decode
