// Reads any bytes as a picture. The first byte chooses colours, EXIF and region.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/image_decoder.h"

namespace {

using echoline::decode::Colors;
using echoline::decode::ImageDecoder;
using echoline::decode::ImageLimits;
using echoline::decode::Region;

constexpr ImageLimits kLimits{.pixels_max = 1 << 20, .scans_max = 20};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  static ImageDecoder decoder(kLimits);  // reused as in a worker: a broken file must leave no state
  const bool exif = (data[0] & 1) != 0;
  const Colors colors = (data[0] & 2) != 0 ? Colors::kGray : Colors::kRgb;
  const auto size = decoder.open(std::as_bytes(std::span(data + 1, bytes - 1)), exif);
  if (!size.ok()) return 0;
  Region region{0, 0, size.value().height, size.value().width};
  if ((data[0] & 4) != 0) {
    region.top = region.height / 3;
    region.left = region.width / 4;
    region.height = std::max(1U, region.height / 2);
    region.width = std::max(1U, region.width / 2);
  }
  std::vector<std::uint8_t> pixels(std::size_t{region.height} * region.width *
                                   echoline::decode::channel_count(colors));
  static_cast<void>(decoder.read(region, colors, pixels.data()).ok());
  return 0;
}
