// JPEG by libjpeg-turbo, whose header stays in jpeg.cc.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Baseline, progressive and arithmetic files of gray, RGB, YCbCr, CMYK and YCCK; CMYK is taken as
// Adobe writes it, inverted, whether or not the file says so, as Pillow does. Pixels equal
// Pillow's. A file that ends early or whose entropy-coded data are corrupt is refused, never half
// decoded. Keeps one decompress object from file to file.
std::unique_ptr<ImageReader> make_jpeg_reader();

}  // namespace echoline::decode
