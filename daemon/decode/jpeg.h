// Reads JPEG files: those of the usual kinds with the module jpeg, all others with libjpeg-turbo.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "decode/image_reader.h"

namespace echoline::decode {

// Files decoded, by decoder. Any thread may add and read.
struct JpegCounts {
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t> libjpeg{0};
};

// Pixels and errors are those of libjpeg-turbo (decode/libjpeg.h), whichever decoder takes a file.
// When the own decoder meets anything unusual in a file, libjpeg-turbo decodes it from its first
// byte. `counts` must outlive the reader; null: nothing is counted.
std::unique_ptr<ImageReader> make_jpeg_reader(JpegCounts* counts = nullptr);

}  // namespace echoline::decode
