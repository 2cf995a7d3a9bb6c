// What every image format offers: the header first, then the pixels of a region, rows streamed to
// where they belong. Another JPEG decoder, or one fed by a later crop, takes its place behind this
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace echoline::decode {

// Pixels are uint8; the value is the channel count.
enum class Colors : std::uint8_t { kGray = 1, kRgb = 3 };

constexpr std::size_t channel_count(Colors colors) { return static_cast<std::size_t>(colors); }

// What a file may ask for; checked on the header, before memory is taken.
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
};

// EXIF's number of the way the stored rows and columns lie; 1 is upright.
using Orientation = std::uint8_t;

struct ImageHeader {
  ImageSize size;  // as stored, before any orientation is applied
  Orientation orientation = 1;
};

// One thread; reused from file to file. After a failure it is ready for the next `open`.
// Errors: kDataLoss corrupt or cut off, kResourceExhausted over a limit, kInvalidArgument a kind
// that is not supported.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  // Reads the header of `file`, whose bytes must stay until `read` has returned. The orientation is
  // looked for only when `exif` asks for it.
  virtual Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                                   bool exif) = 0;
  // Once after each `open`: writes the region, within the size, as dense rows of [width, channels].
  virtual Status read(const Region& region, Colors colors, std::uint8_t* out) = 0;
};

// Refuses empty images and those over the cap; `format` names the kind of file in the message.
Status check_size(const ImageSize& size, const ImageLimits& limits, const char* format);

}  // namespace echoline::decode
