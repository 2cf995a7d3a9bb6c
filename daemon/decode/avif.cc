#include "decode/avif.h"

#include <avif/avif.h>
#include <fmt/format.h>

#include <algorithm>

#include "decode/whole_pixels.h"

namespace echoline::decode {
namespace {

struct DecoderDeleter {
  void operator()(avifDecoder* decoder) const { avifDecoderDestroy(decoder); }
};
using DecoderPointer = std::unique_ptr<avifDecoder, DecoderDeleter>;

Status error_of(avifResult result) {
  const std::string message = fmt::format("AVIF: {}", avifResultToString(result));
  switch (result) {
    case AVIF_RESULT_OUT_OF_MEMORY:
      return {Code::kResourceExhausted, message};
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
      return {Code::kInvalidArgument, message};
    default:
      return {Code::kDataLoss, message};
  }
}

// 0: top and bottom are exchanged, 1: left and right.
unsigned mirror_axis(const avifImageMirror& mirror) {
#if AVIF_VERSION >= 1000000
  return mirror.axis;
#else
  return mirror.mode;
#endif
}

// The rotation (counter-clockwise, in quarters) comes before the mirror.
Orientation orientation_of(const avifImage& image) {
  constexpr Orientation kRotated[] = {1, 8, 3, 6};
  constexpr Orientation kMirrored[2][4] = {{4, 5, 2, 7}, {2, 7, 4, 5}};
  const bool rotates = (image.transformFlags & AVIF_TRANSFORM_IROT) != 0;
  const unsigned angle = rotates ? image.irot.angle & 3U : 0;
  if ((image.transformFlags & AVIF_TRANSFORM_IMIR) == 0) return kRotated[angle];
  return kMirrored[mirror_axis(image.imir) & 1U][angle];
}

class AvifReader final : public ImageReader {
 public:
  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override;

 private:
  Status decode(std::uint8_t* rgb);

  DecoderPointer decoder_;
  ImageSize size_;
  Buffer whole_;
};

Result<ImageHeader> AvifReader::open(std::span<const std::byte> file, const ImageLimits& limits,
                                     bool exif) {
  decoder_.reset(avifDecoderCreate());
  if (decoder_ == nullptr) return error_of(AVIF_RESULT_OUT_OF_MEMORY);
  decoder_->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
  decoder_->maxThreads = 1;
  decoder_->ignoreExif = AVIF_TRUE;
  decoder_->ignoreXMP = AVIF_TRUE;
  // Encoders in use break these two rules; browsers and Pillow read their files.
  decoder_->strictFlags = AVIF_STRICT_ENABLED & ~static_cast<unsigned>(AVIF_STRICT_CLAP_VALID |
                                                                       AVIF_STRICT_PIXI_REQUIRED);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  avifResult result = avifDecoderSetIOMemory(decoder_.get(), bytes, file.size());
  if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder_.get());
  if (result != AVIF_RESULT_OK) return error_of(result);
  if (decoder_->imageCount != 1) {
    return Status(Code::kInvalidArgument, "AVIF: a sequence; only still pictures are read");
  }
  const avifImage& image = *decoder_->image;
  ImageHeader header;
  header.size = {image.height, image.width};
  ECHOLINE_TRY(check_size(header.size, limits, "AVIF"));
  if (exif) header.orientation = orientation_of(image);
  // For the AV1 frames, whose size need not be that of the container.
  decoder_->imageSizeLimit = static_cast<std::uint32_t>(limits.pixels_max);
  size_ = header.size;
  return header;
}

Status AvifReader::read(const Region& region, Colors colors, std::uint8_t* out) {
  const Status status = read_whole(size_, region, colors, whole_, out,
                                   [this](std::uint8_t* rgb) { return decode(rgb); });
  decoder_.reset();  // the planes of a large picture are not kept
  return status;
}

Status AvifReader::decode(std::uint8_t* rgb) {
  avifResult result = avifDecoderNextImage(decoder_.get());
  if (result != AVIF_RESULT_OK) return error_of(result);
  const avifImage& image = *decoder_->image;
  if (ImageSize{image.height, image.width} != size_) {
    return {Code::kDataLoss, "AVIF: the picture has another size than its header says"};
  }
  avifRGBImage out;
  avifRGBImageSetDefaults(&out, &image);
  out.format = AVIF_RGB_FORMAT_RGB;
  out.depth = 8;
  out.ignoreAlpha = AVIF_TRUE;
  out.pixels = rgb;
  out.rowBytes = size_.width * 3;
  result = avifImageYUVToRGB(&image, &out);
  return result == AVIF_RESULT_OK ? Status() : error_of(result);
}

}  // namespace

std::unique_ptr<ImageReader> make_avif_reader() { return std::make_unique<AvifReader>(); }

}  // namespace echoline::decode
