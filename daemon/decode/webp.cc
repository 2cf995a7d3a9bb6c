#include "decode/webp.h"

#include <fmt/format.h>
#include <webp/decode.h>

#include "decode/exif.h"
#include "decode/whole_pixels.h"

namespace echoline::decode {
namespace {

constexpr std::size_t kRiffBytes = 8;  // the name RIFF, and the size of what follows

const std::uint8_t* data_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

std::size_t little_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 4; i > 0; --i)
    value = value << 8 | std::to_integer<unsigned>(bytes[at + i - 1]);
  return value;
}

Status error_of(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return {Code::kResourceExhausted, "WebP: out of memory"};
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return {Code::kInvalidArgument, "WebP: the file uses a feature that libwebp does not have"};
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return {Code::kDataLoss, "WebP: the file ends early"};
    default:
      return {Code::kDataLoss, fmt::format("WebP: the data is damaged (libwebp's error {})",
                                           static_cast<int>(code))};
  }
}

class WebpReader final : public ImageReader {
 public:
  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override {
    return read_whole(size_, region, colors, whole_, out,
                      [this](std::uint8_t* rgb) { return decode(rgb); });
  }

 private:
  Status decode(std::uint8_t* rgb) const;

  std::span<const std::byte> file_;
  ImageSize size_;
  Buffer whole_;
};

Result<ImageHeader> WebpReader::open(std::span<const std::byte> file, const ImageLimits& limits,
                                     bool exif) {
  // libwebp decodes what there is of a file that is cut between two chunks.
  if (little_endian(file, 4) > file.size() - kRiffBytes)
    return error_of(VP8_STATUS_NOT_ENOUGH_DATA);
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(data_of(file), file.size(), &features);
  if (code != VP8_STATUS_OK) return error_of(code);
  if (features.has_animation != 0) {
    return Status(Code::kInvalidArgument, "WebP: an animation; only still pictures are read");
  }
  ImageHeader header;
  header.size = {static_cast<std::uint32_t>(features.height),
                 static_cast<std::uint32_t>(features.width)};
  ECHOLINE_TRY(check_size(header.size, limits, "WebP"));
  if (exif) header.orientation = exif_orientation(exif_of_webp(file));
  file_ = file;
  size_ = header.size;
  return header;
}

// By default, libwebp starts no threads.
Status WebpReader::decode(std::uint8_t* rgb) const {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return {Code::kInvalidArgument, "WebP: another version of libwebp than at build time"};
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = rgb;
  config.output.u.RGBA.stride = static_cast<int>(size_.width * 3);
  config.output.u.RGBA.size = size_.pixels() * 3;
  const VP8StatusCode code = WebPDecode(data_of(file_), file_.size(), &config);
  WebPFreeDecBuffer(&config.output);
  return code == VP8_STATUS_OK ? Status() : error_of(code);
}

}  // namespace

std::unique_ptr<ImageReader> make_webp_reader() { return std::make_unique<WebpReader>(); }

}  // namespace echoline::decode
