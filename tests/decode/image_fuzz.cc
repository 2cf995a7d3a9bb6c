// Reads any bytes as a picture, whole and a region of it: both have the same pixels and the same
// verdict. Some are read as class ids, too. The first byte chooses colours, EXIF, the region, ids
// and whether the picture is reduced, and two others the place of the region.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "decode/image_decoder.h"

namespace {

using echoline::decode::Colors;
using echoline::decode::ImageDecoder;
using echoline::decode::ImageLimits;
using echoline::decode::ImageSize;
using echoline::decode::Region;

constexpr ImageLimits kLimits{.pixels_max = 1 << 20, .scans_max = 20};

struct Pixels {
  bool ok = false;
  std::vector<std::uint8_t> data;
};

ImageSize reduce(ImageDecoder& decoder, const ImageSize& size, std::uint8_t choice) {
  const std::uint32_t by = decoder.reduce(1U << (choice >> 3 & 3)).by;
  return {(size.height + by - 1) / by, (size.width + by - 1) / by};
}

Pixels read(ImageDecoder& decoder, const Region& region, Colors colors) {
  Pixels pixels;
  pixels.data.resize(std::size_t{region.height} * region.width *
                     echoline::decode::channel_count(colors));
  pixels.ok = decoder.read(region, colors, pixels.data.data()).ok();
  return pixels;
}

// About half of a side, from a place that `choice` decides.
void choose_side(std::uint32_t size, std::uint8_t choice, std::uint32_t& first,
                 std::uint32_t& length) {
  length = std::max(1U, size * (1 + choice % 8U) / 9);
  first = (size - length) * (choice / 8U) / 31;
}

void compare(const Pixels& whole, const Pixels& part, const ImageSize& size, const Region& region,
             std::size_t channels) {
  if (whole.ok != part.ok) std::abort();
  if (!whole.ok) return;
  const std::size_t row_bytes = region.width * channels;
  for (std::uint32_t y = 0; y < region.height; ++y) {
    const std::size_t at = (std::size_t{region.top + y} * size.width + region.left) * channels;
    if (std::memcmp(whole.data.data() + at, part.data.data() + y * row_bytes, row_bytes) != 0) {
      std::abort();
    }
  }
}

void read_ids(ImageDecoder& decoder, const ImageSize& size, std::size_t id_bytes) {
  std::vector<std::uint8_t> ids(size.pixels() * id_bytes);
  // Any verdict is right: the sanitizers look at what it does.
  static_cast<void>(decoder.read_ids(id_bytes, ids.data()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  static ImageDecoder decoder(kLimits);  // reused as in a worker: a broken file must leave no state
  const bool exif = (data[0] & 1) != 0;
  const Colors colors = (data[0] & 2) != 0 ? Colors::kGray : Colors::kRgb;
  const auto file = std::as_bytes(std::span(data + 1, bytes - 1));
  const auto opened = decoder.open(file, exif);
  if (!opened.ok()) return 0;
  if ((data[0] & 0x20) != 0) {
    read_ids(decoder, opened.value(), 1 + (data[0] >> 6 & 1));
    return 0;
  }
  const ImageSize size = reduce(decoder, opened.value(), data[0]);
  const Pixels whole = read(decoder, echoline::decode::whole_picture(size), colors);
  if ((data[0] & 4) == 0) return 0;
  Region region;
  choose_side(size.height, data[bytes - 1], region.top, region.height);
  choose_side(size.width, data[bytes / 2], region.left, region.width);
  if (!decoder.open(file, exif).ok()) std::abort();
  reduce(decoder, opened.value(), data[0]);
  compare(whole, read(decoder, region, colors), size, region,
          echoline::decode::channel_count(colors));
  return 0;
}
