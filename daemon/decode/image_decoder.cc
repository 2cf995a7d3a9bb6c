#include "decode/image_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "decode/exif.h"

namespace echoline::decode {

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

ImageDecoder::ImageDecoder(const ImageLimits& limits, const ImageShared* shared)
    : limits_(limits), shared_(shared == nullptr ? unshared_ : *shared) {
  for (const ImageFormat& format : image_formats()) readers_.push_back(format.make(shared_));
}

Result<ImageSize> ImageDecoder::open(std::span<const std::byte> file, bool exif) {
  reader_ = nullptr;
  const std::span<const ImageFormat> formats = image_formats();
  const auto fits = [file](const ImageFormat& format) {
    return has_magic(file, format.magic, format.offset);
  };
  const auto format = std::find_if(formats.begin(), formats.end(), fits);
  if (format == formats.end()) return not_supported(file);
  ImageReader& reader = *readers_[static_cast<std::size_t>(format - formats.begin())];
  ECHOLINE_ASSIGN(header_, reader.open(file, limits_, exif));
  reader_ = &reader;
  count_ = format->count;
  stored_size_ = header_.size;
  if (!swaps_sides(header_.orientation)) return header_.size;
  return ImageSize{header_.size.width, header_.size.height};
}

Reduction ImageDecoder::reduce(std::uint32_t by) {
  ECHOLINE_CHECK(reader_ != nullptr);
  if (by == 1 || !reader_->reduce(by)) return {};
  const ImageSize& size = header_.size;
  stored_size_ = {(size.height + by - 1) / by, (size.width + by - 1) / by};
  return upright_reduction(by, size, header_.orientation);
}

void ImageDecoder::count() const {
  if (count_ == nullptr || shared_.counts == nullptr) return;
  (shared_.counts->*count_).fetch_add(1, std::memory_order_relaxed);
}

template <typename Read>
Status ImageDecoder::turned(const Region& region, std::size_t pixel_bytes, std::uint8_t* out,
                            const Read& read) {
  // The common case writes directly to `out`; turning needs a buffer.
  if (header_.orientation == 1) return read(region, out);
  const Region stored = stored_region(region, stored_size_, header_.orientation);
  const ImageSize size{stored.height, stored.width};
  stored_.resize(size.pixels() * pixel_bytes);
  auto* pixels = reinterpret_cast<std::uint8_t*>(stored_.data());
  ECHOLINE_TRY(read(stored, pixels));
  turn_upright(pixels, size, pixel_bytes, header_.orientation, out);
  return {};
}

Status ImageDecoder::read(const Region& region, Colors colors, std::uint8_t* out) {
  ECHOLINE_CHECK(reader_ != nullptr);
  ImageReader& reader = *std::exchange(reader_, nullptr);
  ECHOLINE_TRY(
      turned(region, channel_count(colors), out, [&](const Region& stored, std::uint8_t* pixels) {
        return reader.read(stored, colors, pixels);
      }));
  count();
  return {};
}

Status ImageDecoder::read_ids(std::size_t id_bytes, std::uint8_t* out) {
  ECHOLINE_CHECK(reader_ != nullptr);
  ImageReader& reader = *std::exchange(reader_, nullptr);
  const ImageSize& stored = header_.size;
  const bool swaps = swaps_sides(header_.orientation);
  const Region all{0, 0, swaps ? stored.width : stored.height,
                   swaps ? stored.height : stored.width};
  ECHOLINE_TRY(turned(all, id_bytes, out, [&](const Region&, std::uint8_t* pixels) {
    return reader.read_ids(id_bytes, pixels);
  }));
  count();
  return {};
}

}  // namespace echoline::decode
