#include "decode/image_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "decode/exif.h"
#include "decode/png.h"

namespace echoline::decode {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kJpegMagic = "\xFF\xD8\xFF"sv;
constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1A\n"sv;

// Formats that are only recognised to name them in an error message.
struct Foreign {
  std::string_view magic;
  std::size_t offset;
  std::string_view name;
};
constexpr Foreign kForeign[] = {{"GIF8"sv, 0, "GIF"},
                                {"WEBP"sv, 8, "WebP"},
                                {"BM"sv, 0, "BMP"},
                                {"II*\0"sv, 0, "TIFF"},
                                {"MM\0*"sv, 0, "TIFF"},
                                {"ftypavif"sv, 4, "AVIF"},
                                {"ftypheic"sv, 4, "HEIF"},
                                {"\0\0\0\x0CjP  "sv, 0, "JPEG 2000"},
                                {"\x93NUMPY"sv, 0, "a numpy array"}};

bool has_magic(std::span<const std::byte> file, std::string_view magic, std::size_t offset = 0) {
  if (file.size() < offset + magic.size()) return false;
  const std::string_view head(reinterpret_cast<const char*>(file.data()) + offset, magic.size());
  return head == magic;
}

// The most helpful message for a file that is neither JPEG nor PNG.
Status not_supported(std::span<const std::byte> file) {
  if (file.empty()) return {Code::kDataLoss, "the file is empty"};
  for (const Foreign& foreign : kForeign) {
    if (has_magic(file, foreign.magic, foreign.offset)) {
      return {Code::kInvalidArgument,
              fmt::format("the file is {}; JPEG and PNG are read", foreign.name)};
    }
  }
  std::string head;
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 8))) {
    head += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
  }
  return {Code::kDataLoss,
          fmt::format("neither JPEG nor PNG: {} bytes that begin with{}", file.size(), head)};
}

}  // namespace

Status check_size(const ImageSize& size, const ImageLimits& limits, const char* format) {
  if (size.height == 0 || size.width == 0) {
    return {Code::kDataLoss,
            fmt::format("{}: the size is {} x {}", format, size.width, size.height)};
  }
  if (size.pixels() <= limits.pixels_max) return {};
  return {Code::kResourceExhausted,
          fmt::format("{}: {} x {} pixels are more than the {} allowed", format, size.width,
                      size.height, limits.pixels_max)};
}

ImageDecoder::ImageDecoder(const ImageLimits& limits, const JpegShared* jpegs)
    : limits_(limits), jpeg_(make_jpeg_reader(jpegs)), png_(make_png_reader()) {}

Result<ImageSize> ImageDecoder::open(std::span<const std::byte> file, bool exif) {
  reader_ = nullptr;
  ImageReader* reader = nullptr;
  if (has_magic(file, kJpegMagic)) reader = jpeg_.get();
  if (has_magic(file, kPngMagic)) reader = png_.get();
  if (reader == nullptr) return not_supported(file);
  ECHOLINE_ASSIGN(header_, reader->open(file, limits_, exif));
  reader_ = reader;
  if (!swaps_sides(header_.orientation)) return header_.size;
  return ImageSize{header_.size.width, header_.size.height};
}

Status ImageDecoder::read(const Region& region, Colors colors, std::uint8_t* out) {
  ECHOLINE_CHECK(reader_ != nullptr);
  ImageReader& reader = *std::exchange(reader_, nullptr);
  // The common case writes directly to `out`; turning needs a buffer.
  if (header_.orientation == 1) return reader.read(region, colors, out);
  const Region stored = stored_region(region, header_.size, header_.orientation);
  const ImageSize size{stored.height, stored.width};
  stored_.resize(size.pixels() * channel_count(colors));
  auto* pixels = reinterpret_cast<std::uint8_t*>(stored_.data());
  ECHOLINE_TRY(reader.read(stored, colors, pixels));
  turn_upright(pixels, size, channel_count(colors), header_.orientation, out);
  return {};
}

}  // namespace echoline::decode
