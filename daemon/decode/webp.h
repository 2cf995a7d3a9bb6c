// Reads WebP files with libwebp; only webp.cc includes its headers.
#pragma once

#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Reads lossy and lossless pictures with the pixels of libwebp, as Pillow does; alpha is dropped.
// Animations are errors (kInvalidArgument). Every picture is decoded whole: libwebp filters across
// the edges of a crop and stops below it.
std::unique_ptr<ImageReader> make_webp_reader();

}  // namespace echoline::decode
