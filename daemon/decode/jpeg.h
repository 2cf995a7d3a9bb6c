// Reads JPEG files: those of the usual kinds with the module jpeg, all others with libjpeg-turbo.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "decode/image_reader.h"
#include "seek/indexes.h"

namespace echoline::decode {

// Files decoded, by decoder. Any thread may add and read.
struct JpegCounts {
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t> libjpeg{0};
};

// What the JPEG readers of a stream share, as one thread uses it. Null: nothing is counted, and no
// indexes are kept.
struct JpegShared {
  JpegCounts* counts = nullptr;
  seek::Indexes* indexes = nullptr;
  std::uint64_t file = 0;  // the number of the next file in `indexes`
};

// Pixels and errors are those of libjpeg-turbo (decode/libjpeg.h), whichever decoder takes a file.
// When the own decoder meets anything unusual in a file, libjpeg-turbo decodes it from its first
// byte. `shared` must outlive the reader.
std::unique_ptr<ImageReader> make_jpeg_reader(const JpegShared* shared = nullptr);

}  // namespace echoline::decode
