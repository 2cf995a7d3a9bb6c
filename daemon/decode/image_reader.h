// The interface of an image format: reads the header first, then the pixels of a region.
// image_formats.h has the table of its implementations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace echoline::decode {

// Pixels are uint8; the value is the channel count.
enum class Colors : std::uint8_t { kGray = 1, kRgb = 3 };

constexpr std::size_t channel_count(Colors colors) { return static_cast<std::size_t>(colors); }

// Limits against files that claim too much; checked on the header, before allocating memory.
struct ImageLimits {
  std::uint64_t pixels_max = 100'000'000;
  std::uint32_t scans_max = 100;  // passes of a progressive JPEG
};

struct ImageSize {
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  bool operator==(const ImageSize&) const = default;
  std::uint64_t pixels() const { return std::uint64_t{height} * width; }
};

// Pixels [top, top + height) x [left, left + width).
struct Region {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  bool operator==(const Region&) const = default;
};

// All pixels of a picture.
constexpr Region whole_picture(const ImageSize& size) { return {0, 0, size.height, size.width}; }

// How a smaller picture that was made while decoding covers the whole one: each side is divided by
// `by`, and pixel (y, x) is the mean of the picture's rows [top + y by, top + (y + 1) by) and of
// the same columns from `left` on. Those beyond the picture are the encoder's padding.
struct Reduction {
  std::uint32_t by = 1;
  std::int32_t top = 0;  // 0 or negative
  std::int32_t left = 0;

  bool operator==(const Reduction&) const = default;
};

// The EXIF orientation, 1 to 8: how the stored rows and columns are turned. 1 is upright.
using Orientation = std::uint8_t;

struct ImageHeader {
  ImageSize size;  // as stored, before applying the orientation
  Orientation orientation = 1;
};

// One thread; reused from file to file. After an error it is ready for the next `open`. Errors:
// kDataLoss for corrupt or truncated files, kResourceExhausted above a limit, kInvalidArgument for
// a variant that is not supported.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  // Reads the header of `file`, whose bytes must stay valid until `read` has returned. Only reads
  // the orientation if `exif` is set.
  virtual Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                                   bool exif) = 0;
  // Between `open` and `read`: the region then counts pixels of a picture whose sides are divided
  // by `by`, which is 2, 4 or 8, and rounded up. False: not with this file, nothing has changed.
  virtual bool reduce(std::uint32_t /*by*/) { return false; }
  // Once after each `open`: writes the region, which is within the size, as dense rows of
  // [width, channels]. A pixel is the same in every region that contains it. The error is the
  // same for every region: damage outside it counts, too.
  virtual Status read(const Region& region, Colors colors, std::uint8_t* out) = 0;
  // Instead of `read`: writes the whole picture as class ids of 1 or 2 bytes each.
  virtual Status read_ids(std::size_t /*id_bytes*/, std::uint8_t* /*out*/) {
    return {Code::kInvalidArgument, "is no PNG file; class ids are read from PNG files only"};
  }
};

// An error for empty images and images above the limit; the message begins with `format`.
Status check_size(const ImageSize& size, const ImageLimits& limits, const char* format);

}  // namespace echoline::decode
