// Reads JPEG files with libjpeg-turbo; only libjpeg.cc includes its headers.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Reads baseline, progressive and arithmetic-coded files in gray, RGB, YCbCr, CMYK and YCCK. CMYK
// is taken as inverted (Adobe's convention) whether or not the file says so, as Pillow does. The
// pixels equal Pillow's. Truncated or corrupt entropy-coded data is an error; the result is never
// partial, and never depends on the file before.
std::unique_ptr<ImageReader> make_libjpeg_reader();

}  // namespace echoline::decode
