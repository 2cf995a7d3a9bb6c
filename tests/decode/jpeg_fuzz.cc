// Reads any bytes as a JPEG file with the JPEG reader and with libjpeg-turbo alone: both give the
// same pixels or the same error. The first byte chooses colours and region.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "decode/jpeg.h"
#include "decode/libjpeg.h"

namespace {

using namespace echoline::decode;

constexpr ImageLimits kLimits{.pixels_max = 1 << 18, .scans_max = 20};

struct Outcome {
  echoline::Status status;
  ImageHeader header;
  std::vector<std::uint8_t> pixels;
};

// Part of a side, which `choice` decides.
void choose_side(std::uint32_t size, std::uint32_t choice, std::uint32_t& first,
                 std::uint32_t& length) {
  length = 1 + choice % size;
  first = choice / 7 % (size - length + 1);
}

Outcome read(ImageReader& reader, std::span<const std::byte> file, std::uint8_t choice) {
  Outcome outcome;
  const auto opened = reader.open(file, kLimits, true);
  outcome.status = opened.status();
  if (!opened.ok()) return outcome;
  outcome.header = opened.value();
  const ImageSize size = outcome.header.size;
  const Colors colors = (choice & 1) != 0 ? Colors::kGray : Colors::kRgb;
  Region region = whole_picture(size);
  if ((choice & 2) != 0) {
    choose_side(size.height, choice * 31U, region.top, region.height);
    choose_side(size.width, choice * 57U, region.left, region.width);
  }
  outcome.pixels.resize(std::size_t{region.height} * region.width * channel_count(colors));
  outcome.status = reader.read(region, colors, outcome.pixels.data());
  return outcome;
}

void compare(const Outcome& found, const Outcome& expected) {
  if (found.status.message() != expected.status.message()) std::abort();
  if (found.status.code() != expected.status.code()) std::abort();
  if (found.header.size != expected.header.size) std::abort();
  if (found.header.orientation != expected.header.orientation) std::abort();
  if (expected.status.ok() && found.pixels != expected.pixels) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes < 2) return 0;
  static const auto reader = make_jpeg_reader();  // reused as in a worker
  static const auto libjpeg = make_libjpeg_reader();
  const auto file = std::as_bytes(std::span(data + 1, bytes - 1));
  compare(read(*reader, file, data[0]), read(*libjpeg, file, data[0]));
  return 0;
}
