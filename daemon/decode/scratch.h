// The reusable state of one thread that decodes.
#pragma once

#include "decode/image_decoder.h"

namespace echoline::decode {

// One thread at a time. It keeps the image libraries' objects and buffers from record to record, so
// that nothing is allocated per sample in the steady state.
struct Scratch {
  explicit Scratch(ImageCounts* counts = nullptr) : images(ImageLimits{}, counts) {}

  ImageDecoder images;
};

}  // namespace echoline::decode
