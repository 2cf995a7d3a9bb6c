// Pictures of any supported format, told apart by their first bytes: a name or an extension says
// nothing.
#pragma once

#include <memory>

#include "base/buffer.h"
#include "decode/image_reader.h"

namespace echoline::decode {

// One thread. `open` then `read`, as often as wanted; sizes and regions are those of the upright
// picture when `exif` was asked for. Keeps the readers and their buffers from picture to picture.
class ImageDecoder {
 public:
  explicit ImageDecoder(const ImageLimits& limits = {});

  // `file` must stay until `read` has returned.
  Result<ImageSize> open(std::span<const std::byte> file, bool exif);
  // Writes the region as dense uint8 [region.height, region.width, channels].
  Status read(const Region& region, Colors colors, std::uint8_t* out);

 private:
  const ImageLimits limits_;
  const std::unique_ptr<ImageReader> jpeg_;
  const std::unique_ptr<ImageReader> png_;
  ImageReader* reader_ = nullptr;  // of the open picture
  ImageHeader header_;
  Buffer stored_;  // pixels before they are turned upright
};

}  // namespace echoline::decode
