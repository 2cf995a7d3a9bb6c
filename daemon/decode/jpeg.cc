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
  explicit JpegReader(const JpegShared* shared) : shared_(shared) {}

  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  bool reduce(std::uint32_t by) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override;

 private:
  // What libjpeg-turbo accepts at this point, and the own decoder can decode.
  bool open_own(const ImageLimits& limits);
  Orientation orientation() const;
  JpegCounts* counts() const { return shared_ == nullptr ? nullptr : shared_->counts; }
  jpeg::Bytes bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(file_.data()), file_.size()};
  }
  static jpeg::Window window_of(const Region& region) {
    return {region.top, region.left, region.height, region.width};
  }
  bool wants_rgb(Colors colors) const {
    return colors == Colors::kRgb || own_.header().component_count != 1;
  }
  // False: the own decoder has given the file up.
  bool read_own(const Region& region, Colors colors, std::uint8_t* out);
  template <typename Own>
  bool read_rows(Own& own, const Region& region, Colors colors, std::uint8_t* out);
  bool read_with(jpeg::SeekPoints points, const Region& region, Colors colors, std::uint8_t* out);

  const JpegShared* const shared_;
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
  if (!own_.open(bytes())) return false;
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
    if (counts() != nullptr) counts()->own.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  if (is_own_) {
    ECHOLINE_TRY(libjpeg_->open(file_, limits_, exif_).status());
    if (by_ != 1) libjpeg_->reduce(by_);
  }
  if (counts() != nullptr) counts()->libjpeg.fetch_add(1, std::memory_order_relaxed);
  return libjpeg_->read(region, colors, out);
}

bool JpegReader::read_own(const Region& region, Colors colors, std::uint8_t* out) {
  seek::Indexes* indexes = shared_ == nullptr ? nullptr : shared_->indexes;
  if (indexes == nullptr) return read_with({}, region, colors, out);
  const jpeg::SeekPoints points = indexes->find(shared_->file, bytes());
  if (!points.empty() && read_with(points, region, colors, out)) return true;
  // Points that don't fit are of no use, whatever the reason: then as without any.
  if (!read_with({}, region, colors, out)) return false;
  if (!points.empty()) return true;
  indexes->offer(shared_->file, bytes(), by_ == 1 ? own_.points() : reduced_.points());
  return true;
}

bool JpegReader::read_with(jpeg::SeekPoints points, const Region& region, Colors colors,
                           std::uint8_t* out) {
  const jpeg::Window window = window_of(region);
  const bool rgb = wants_rgb(colors);
  if (by_ == 1) return own_.start(window, rgb, points) && read_rows(own_, region, colors, out);
  return reduced_.start(own_.header(), bytes(), window, by_, rgb, points) &&
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

std::unique_ptr<ImageReader> make_jpeg_reader(const JpegShared* shared) {
  return std::make_unique<JpegReader>(shared);
}

}  // namespace echoline::decode
