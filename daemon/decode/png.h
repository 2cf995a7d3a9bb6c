// Reads PNG files with libpng; only png.cc includes its headers.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Reads all colour types and depths, interlaced or not, with the results of Pillow's convert():
// palettes are resolved, gray of 1, 2 and 4 bits is scaled to 255, alpha and transparent colours
// are dropped, gamma is ignored. Of 16-bit values it takes the high byte, for gray too (Pillow's
// convert() would clip these at 255). As class ids it reads palettes (the index, not the colour)
// and gray (the value as it is stored).
std::unique_ptr<ImageReader> make_png_reader();

}  // namespace echoline::decode
