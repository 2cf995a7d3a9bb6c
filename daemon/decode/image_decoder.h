// Decodes pictures of any supported format. Their first bytes determine the format; file names are
// often wrong.
#pragma once

#include <memory>

#include "base/buffer.h"
#include "decode/image_reader.h"
#include "decode/jpeg.h"

namespace echoline::decode {

// One thread. Call `open`, then `read`, for each picture. With `exif`, sizes and regions are those
// of the upright picture. Reuses the readers and their buffers from picture to picture.
class ImageDecoder {
 public:
  // `jpegs`, if any, must outlive this.
  explicit ImageDecoder(const ImageLimits& limits = {}, const JpegShared* jpegs = nullptr);

  // `file` must stay valid until `read` has returned.
  Result<ImageSize> open(std::span<const std::byte> file, bool exif);
  // Writes the region as dense uint8 [region.height, region.width, channels].
  Status read(const Region& region, Colors colors, std::uint8_t* out);

 private:
  const ImageLimits limits_;
  const std::unique_ptr<ImageReader> jpeg_;
  const std::unique_ptr<ImageReader> png_;
  ImageReader* reader_ = nullptr;  // of the opened picture; null after `read`
  ImageHeader header_;
  Buffer stored_;  // pixels before turning them upright
};

}  // namespace echoline::decode
