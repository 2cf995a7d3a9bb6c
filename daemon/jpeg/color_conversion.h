// From YCbCr to RGB: ITU-T T.871 (JFIF), clause 7, in 16-bit fixed point with libjpeg's rounding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::jpeg {

// `count` pixels. The three rows may be read up to kRowPadding (planes.h) beyond their end;
// nothing is written beyond 3 * count bytes.
void ycbcr_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                  std::size_t count, std::uint8_t* rgb);

void gray_to_rgb(const std::uint8_t* gray, std::size_t count, std::uint8_t* rgb);

}  // namespace echoline::jpeg
