// PNG by libpng, whose header stays in png.cc.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// All colour types and depths, interlaced or not, as Pillow's convert(): palettes looked up, gray
// of 1, 2 and 4 bits stretched to 255, alpha and transparent colours dropped, gamma left alone. Of
// 16 bits the high byte is taken, of gray too (where Pillow's convert() would clip at 255).
std::unique_ptr<ImageReader> make_png_reader();

}  // namespace echoline::decode
