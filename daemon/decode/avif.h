// Reads AVIF files with libavif and dav1d; only avif.cc includes libavif's headers.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Reads still pictures of any depth, subsampling and grid, with the RGB pixels of libavif in 8
// bits; alpha is dropped. Sequences are errors (kInvalidArgument). The orientation is that of the
// rotation and mirror properties; the standard says that EXIF data does not count.
std::unique_ptr<ImageReader> make_avif_reader();

}  // namespace echoline::decode
