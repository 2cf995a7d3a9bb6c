#include "decode/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/buffer.h"
#include "decode/colors.h"
#include "decode/exif.h"

namespace echoline::decode {
namespace {

constexpr std::uint64_t kInflateRatioMax = 1032;  // the highest compression ratio of deflate
constexpr png_alloc_size_t kChunkBytesMax = 16 << 20;
constexpr int kPassesInterlaced = 7;

class PngReader final : public ImageReader {
 public:
  PngReader() = default;
  ~PngReader() override { close(); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override;
  Status read_ids(std::size_t id_bytes, std::uint8_t* out) override;

 private:
  static void on_error(png_structp png, png_const_charp message);
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep target, png_size_t bytes);

  // Runs `action`, which must own no resources. A longjmp out of it becomes a Status and closes the
  // file.
  template <typename Action>
  Status guarded(const Action& action);
  Status check_ids(std::size_t id_bytes) const;
  Status check_length(const ImageSize& size, std::size_t file_bytes) const;
  void read_start(Colors colors);
  void read_rows(const Region& region, Colors colors, std::uint8_t* out);
  void read_interlaced(const Region& region, Colors colors, std::uint8_t* out);
  void convert_row(const std::uint8_t* row, const Region& region, Colors colors, std::uint8_t* out);
  void close() { png_destroy_read_struct(&png_, &info_, nullptr); }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::span<const std::byte> rest_;
  char message_[128] = {};
  Buffer pixels_;  // one row; the whole picture if it is interlaced
  std::vector<png_bytep> rows_;
};

void PngReader::on_error(png_structp png, png_const_charp message) {
  auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
  std::snprintf(self->message_, sizeof self->message_, "%s", message);
  png_longjmp(png, 1);
}

void PngReader::on_read(png_structp png, png_bytep target, png_size_t bytes) {
  auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
  if (bytes > self->rest_.size()) png_error(png, "the file ends early");
  std::memcpy(target, self->rest_.data(), bytes);
  self->rest_ = self->rest_.subspan(bytes);
}

template <typename Action>
Status PngReader::guarded(const Action& action) {
  if (setjmp(png_jmpbuf(png_)) == 0) {
    action();
    return {};
  }
  close();
  return {Code::kDataLoss, fmt::format("PNG: {}", message_)};
}

Result<ImageHeader> PngReader::open(std::span<const std::byte> file, const ImageLimits& limits,
                                    bool exif) {
  close();
  rest_ = file;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  if (info_ == nullptr) return Status(Code::kResourceExhausted, "PNG: out of memory");
  ECHOLINE_TRY(guarded([this] {
    png_set_read_fn(png_, this, on_read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png_, kChunkBytesMax);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
  }));
  ImageHeader header;
  header.size = {png_get_image_height(png_, info_), png_get_image_width(png_, info_)};
  ECHOLINE_TRY(check_size(header.size, limits, "PNG"));
  ECHOLINE_TRY(check_length(header.size, file.size()));
  if (exif) header.orientation = exif_orientation(exif_of_png(file));
  return header;
}

// Deflate can't expand data by more than kInflateRatioMax. A file that is shorter is truncated; it
// is refused before allocating memory for its pixels.
Status PngReader::check_length(const ImageSize& size, std::size_t file_bytes) const {
  const std::uint64_t bits =
      png_get_bit_depth(png_, info_) * std::uint64_t{png_get_channels(png_, info_)};
  if (size.pixels() * bits / 8 / kInflateRatioMax <= file_bytes) return {};
  return {Code::kDataLoss, fmt::format("PNG: {} bytes cannot hold the {} x {} pixels of its header",
                                       file_bytes, size.width, size.height)};
}

Status PngReader::read(const Region& region, Colors colors, std::uint8_t* out) {
  const std::uint32_t height = png_get_image_height(png_, info_);
  const std::size_t row_bytes = std::size_t{png_get_image_width(png_, info_)} * 3;
  const bool interlaced = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
  pixels_.resize(interlaced ? row_bytes * height : row_bytes);
  rows_.resize(interlaced ? height : 1);
  const Status status = guarded([&] {
    read_start(colors);
    if (interlaced) {
      read_interlaced(region, colors, out);
    } else {
      read_rows(region, colors, out);
    }
  });
  close();
  return status;
}

// libpng turns gray into RGB if needed. convert_row turns colour into gray, with the arithmetic of
// Pillow.
void PngReader::read_start(Colors colors) {
  const bool color = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0;
  png_set_strip_16(png_);
  png_set_palette_to_rgb(png_);
  png_set_expand_gray_1_2_4_to_8(png_);
  png_set_strip_alpha(png_);
  if (!color && colors == Colors::kRgb) png_set_gray_to_rgb(png_);
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
}

Status PngReader::check_ids(std::size_t id_bytes) const {
  const int type = png_get_color_type(png_, info_);
  if (type != PNG_COLOR_TYPE_GRAY && type != PNG_COLOR_TYPE_PALETTE) {
    return {Code::kInvalidArgument,
            "PNG: has colours or an alpha channel; a mask has a palette or gray values"};
  }
  if (png_get_bit_depth(png_, info_) <= 8 || id_bytes == 2) return {};
  return {Code::kInvalidArgument, "PNG: has ids of 16 bits; read it with `as: mask16`"};
}

Status PngReader::read_ids(std::size_t id_bytes, std::uint8_t* out) {
  const Status checked = check_ids(id_bytes);
  if (!checked.ok()) {
    close();
    return checked;
  }
  const std::size_t width = png_get_image_width(png_, info_);
  const std::size_t height = png_get_image_height(png_, info_);
  const std::size_t stored_bytes = png_get_bit_depth(png_, info_) == 16 ? 2 : 1;
  const bool widens = stored_bytes < id_bytes;
  if (widens) pixels_.resize(width * height);
  auto* const pixels = widens ? reinterpret_cast<std::uint8_t*>(pixels_.data()) : out;
  const Status status = guarded([&] {
    png_set_packing(png_);  // one byte for each value of 1, 2 or 4 bits, not scaled
    png_set_swap(png_);     // to little-endian
    const int passes = png_set_interlace_handling(png_);
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t y = 0; y < height; ++y) {
        png_read_row(png_, pixels + y * width * stored_bytes, nullptr);
      }
    }
  });
  close();
  if (!status.ok() || !widens) return status;
  for (std::size_t i = 0; i < width * height; ++i) {
    const std::uint16_t id = pixels[i];
    std::memcpy(out + i * sizeof id, &id, sizeof id);
  }
  return {};
}

void PngReader::read_rows(const Region& region, Colors colors, std::uint8_t* out) {
  const std::size_t row_bytes = region.width * channel_count(colors);
  auto* row = reinterpret_cast<png_bytep>(pixels_.data());
  for (std::uint32_t y = 0; y < region.top; ++y) png_read_row(png_, row, nullptr);
  for (std::uint32_t y = 0; y < region.height; ++y) {
    png_read_row(png_, row, nullptr);
    convert_row(row, region, colors, out + y * row_bytes);
  }
  // A record is good or bad whatever its region is.
  const std::uint32_t height = png_get_image_height(png_, info_);
  for (std::uint32_t y = region.top + region.height; y < height; ++y) {
    png_read_row(png_, row, nullptr);
  }
}

// Every pass of Adam7 needs the rows of the passes before, so this reads the whole picture.
void PngReader::read_interlaced(const Region& region, Colors colors, std::uint8_t* out) {
  const std::size_t stride = png_get_rowbytes(png_, info_);
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    rows_[y] = reinterpret_cast<png_bytep>(pixels_.data()) + y * stride;
  }
  for (int pass = 0; pass < kPassesInterlaced; ++pass) {
    png_read_rows(png_, rows_.data(), nullptr, static_cast<png_uint_32>(rows_.size()));
  }
  const std::size_t row_bytes = region.width * channel_count(colors);
  for (std::uint32_t y = 0; y < region.height; ++y) {
    convert_row(rows_[region.top + y], region, colors, out + y * row_bytes);
  }
}

void PngReader::convert_row(const std::uint8_t* row, const Region& region, Colors colors,
                            std::uint8_t* out) {
  const std::size_t channels = png_get_channels(png_, info_);
  const std::uint8_t* pixels = row + region.left * channels;
  if (channels == channel_count(colors)) {
    std::memcpy(out, pixels, region.width * channels);
  } else {
    rgb_to_gray(pixels, region.width, out);
  }
}

}  // namespace

std::unique_ptr<ImageReader> make_png_reader() { return std::make_unique<PngReader>(); }

}  // namespace echoline::decode
