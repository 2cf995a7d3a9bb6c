// Decodes pictures of any supported format (decode/image_formats.h).
#pragma once

#include <memory>
#include <vector>

#include "base/buffer.h"
#include "decode/image_formats.h"
#include "decode/image_reader.h"

namespace echoline::decode {

// One thread. Call `open`, then `read`, for each picture. With `exif`, sizes and regions are those
// of the upright picture. Reuses the readers and their buffers from picture to picture.
class ImageDecoder {
 public:
  // `shared`, if any, must outlive this.
  explicit ImageDecoder(const ImageLimits& limits = {}, const ImageShared* shared = nullptr);

  // `file` must stay valid until `read` has returned.
  Result<ImageSize> open(std::span<const std::byte> file, bool exif);
  // Between `open` and `read`, as ImageReader::reduce, for `by` of 1, 2, 4 or 8. Returns what was
  // possible: the region then counts pixels of that smaller picture.
  Reduction reduce(std::uint32_t by);
  // Writes the region as dense uint8 [region.height, region.width, channels].
  Status read(const Region& region, Colors colors, std::uint8_t* out);
  // Instead of `read`: writes the whole picture as class ids of 1 or 2 bytes each.
  Status read_ids(std::size_t id_bytes, std::uint8_t* out);

 private:
  // Lets `read`(region, pixels) write the stored pixels of a region, and turns them upright.
  template <typename Read>
  Status turned(const Region& region, std::size_t pixel_bytes, std::uint8_t* out, const Read& read);
  void count() const;
  const ImageLimits limits_;
  const ImageShared unshared_;
  const ImageShared& shared_;
  std::vector<std::unique_ptr<ImageReader>> readers_;  // in the order of image_formats()
  ImageReader* reader_ = nullptr;                      // of the opened picture; null after `read`
  std::atomic<std::uint64_t> ImageCounts::*count_ = nullptr;  // of its format
  ImageHeader header_;
  ImageSize stored_size_;  // after the reduction, before turning it upright
  Buffer stored_;          // pixels before turning them upright
};

}  // namespace echoline::decode
