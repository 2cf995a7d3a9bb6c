// Reads any bytes as a JPEG file with the JPEG reader, without its seek index and with it, and with
// libjpeg-turbo alone: all give the same pixels or the same error. The first byte chooses colours
// and region. Seek points that are damaged do no harm.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "decode/jpeg.h"
#include "decode/libjpeg.h"
#include "jpeg/decoder.h"
#include "seek/indexes.h"

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

// The file's own last bytes are the damage.
void read_from_damaged(echoline::jpeg::Bytes file, std::vector<echoline::jpeg::SeekPoint> points,
                       std::uint8_t choice) {
  const auto damage = std::as_writable_bytes(std::span(points));
  for (std::size_t i = 0; i < file.size() && i < 64; ++i) {
    const std::size_t place = (i * 57U + choice) * 31U % damage.size();
    damage[place] ^= static_cast<std::byte>(file[file.size() - 1 - i]);
  }
  static echoline::jpeg::Decoder decoder;
  if (!decoder.open(file)) std::abort();
  const std::uint32_t height = decoder.header().height;
  const std::uint32_t width = decoder.header().width;
  std::vector<std::uint8_t> row(std::size_t{width} * 3);
  if (!decoder.start({0, 0, height, width}, true, points)) return;
  for (std::uint32_t y = 0; y < height && decoder.read_row(row.data()); ++y) continue;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes < 2) return 0;
  echoline::seek::Indexes indexes({.files = 1, .capacity_bytes = 1 << 20});
  static JpegShared shared;
  shared.indexes = &indexes;
  static const auto reader = make_jpeg_reader(&shared);  // reused as in a worker
  static const auto libjpeg = make_libjpeg_reader();
  const std::span file(data + 1, bytes - 1);
  const Outcome expected = read(*libjpeg, std::as_bytes(file), data[0]);
  compare(read(*reader, std::as_bytes(file), data[0]), expected);
  compare(read(*reader, std::as_bytes(file), data[0]), expected);
  const auto points = indexes.find(0, file);
  if (!points.empty()) read_from_damaged(file, {points.begin(), points.end()}, data[0]);
  return 0;
}
