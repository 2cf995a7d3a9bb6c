#include "decode/jpeg.h"

#include "base/buffer.h"
#include "decode/colors.h"
#include "decode/exif.h"
#include "decode/libjpeg.h"
#include "jpeg/decoder.h"
#include "jpeg/reduced_decoder.h"

namespace echoline::decode {
namespace {

// libjpeg-turbo's vector code gives different bytes for each kind of processor where damaged files
// ask for samples far out of range. The own decoder does as x86's.
#if defined(__x86_64__)
constexpr bool kOwnDecoder = true;
#else
constexpr bool kOwnDecoder = false;
#endif

class JpegReader final : public ImageReader {
 public:
  explicit JpegReader(JpegCounts* counts) : counts_(counts) {}

  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  bool reduce(std::uint32_t by) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override;

 private:
  // What libjpeg-turbo accepts at this point, and the own decoder can decode.
  bool open_own(const ImageLimits& limits);
  Orientation orientation() const;
  // False: the own decoder has given the file up.
  bool read_own(const Region& region, Colors colors, std::uint8_t* out);
  template <typename Own>
  bool read_rows(Own& own, const Region& region, Colors colors, std::uint8_t* out);

  JpegCounts* const counts_;
  const std::unique_ptr<ImageReader> libjpeg_ = make_libjpeg_reader();
  jpeg::Decoder own_;
  jpeg::ReducedDecoder reduced_;
  std::span<const std::byte> file_;
  ImageLimits limits_;
  bool exif_ = false;
  bool is_own_ = false;
  std::uint32_t by_ = 1;  // what the sides are divided by
  Buffer row_;            // of RGB, where gray is wanted
};

Result<ImageHeader> JpegReader::open(std::span<const std::byte> file, const ImageLimits& limits,
                                     bool exif) {
  file_ = file;
  limits_ = limits;
  exif_ = exif;
  by_ = 1;
  is_own_ = kOwnDecoder && open_own(limits);
  if (!is_own_) return libjpeg_->open(file, limits, exif);
  ImageHeader header;
  header.size = {own_.header().height, own_.header().width};
  if (exif) header.orientation = orientation();
  return header;
}

bool JpegReader::open_own(const ImageLimits& limits) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file_.data());
  if (!own_.open({bytes, file_.size()})) return false;
  const jpeg::Header& header = own_.header();
  if (std::uint64_t{header.height} * header.width > limits.pixels_max) return false;
  return jpeg::block_count(header) / 8 <= file_.size();
}

Orientation JpegReader::orientation() const {
  for (const jpeg::Bytes payload : own_.header().app1) {
    if (const auto tiff = exif_of_app1(std::as_bytes(payload))) return exif_orientation(*tiff);
  }
  return 1;
}

// Of the own decoder's files only those that it can reduce itself: with libjpeg-turbo, a reduction
// gains little over the own decoder's exact pixels.
bool JpegReader::reduce(std::uint32_t by) {
  if (is_own_ ? !jpeg::ReducedDecoder::takes(own_.header()) : !libjpeg_->reduce(by)) return false;
  by_ = by;
  return true;
}

Status JpegReader::read(const Region& region, Colors colors, std::uint8_t* out) {
  if (is_own_ && read_own(region, colors, out)) {
    if (counts_ != nullptr) counts_->own.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  if (is_own_) {
    ECHOLINE_TRY(libjpeg_->open(file_, limits_, exif_).status());
    if (by_ != 1) libjpeg_->reduce(by_);
  }
  if (counts_ != nullptr) counts_->libjpeg.fetch_add(1, std::memory_order_relaxed);
  return libjpeg_->read(region, colors, out);
}

bool JpegReader::read_own(const Region& region, Colors colors, std::uint8_t* out) {
  const bool rgb = colors == Colors::kRgb || own_.header().component_count != 1;
  const jpeg::Window window{region.top, region.left, region.height, region.width};
  if (by_ == 1) return own_.start(window, rgb) && read_rows(own_, region, colors, out);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file_.data());
  return reduced_.start(own_.header(), {bytes, file_.size()}, window, by_, rgb) &&
         read_rows(reduced_, region, colors, out);
}

template <typename Own>
bool JpegReader::read_rows(Own& own, const Region& region, Colors colors, std::uint8_t* out) {
  const bool to_gray = colors == Colors::kGray && own_.header().component_count != 1;
  if (to_gray) row_.resize(std::size_t{region.width} * 3);
  for (std::uint32_t y = 0; y < region.height; ++y, out += region.width * channel_count(colors)) {
    std::uint8_t* row = to_gray ? reinterpret_cast<std::uint8_t*>(row_.data()) : out;
    if (!own.read_row(row)) return false;
    if (to_gray) rgb_to_gray(row, region.width, out);
  }
  return own.finish();
}

}  // namespace

std::unique_ptr<ImageReader> make_jpeg_reader(JpegCounts* counts) {
  return std::make_unique<JpegReader>(counts);
}

}  // namespace echoline::decode
