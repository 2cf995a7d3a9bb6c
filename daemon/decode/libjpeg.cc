#include "decode/libjpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstring>
#include <new>

// In this order: jerror.h depends on macros of jpeglib.h.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "base/buffer.h"
#include "decode/colors.h"
#include "decode/exif.h"

namespace echoline::decode {
namespace {

// libjpeg's callbacks. Errors leave the library by longjmp, so no function between setjmp and the
// library may own resources.
struct Hooks {
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  Code code = Code::kDataLoss;
  std::uint32_t scans_max = 0;
  char message[JMSG_LENGTH_MAX] = {};
};

Hooks& hooks_of(j_common_ptr common) { return *static_cast<Hooks*>(common->client_data); }

[[noreturn]] void give_up(j_common_ptr common) {
  Hooks& hooks = hooks_of(common);
  hooks.errors.format_message(common, hooks.message);
  std::longjmp(hooks.jump, 1);
}

// Only these warnings mean lost pixels. Others are about colour profiles or stray bytes.
bool means_corrupt(int message) {
  switch (message) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_JPEG_EOF:
      return true;
    default:
      return false;
  }
}

void on_message(j_common_ptr common, int level) {
  if (level < 0 && means_corrupt(common->err->msg_code)) give_up(common);
}

void on_error(j_common_ptr common) {
  Hooks& hooks = hooks_of(common);
  if (common->err->msg_code == JERR_OUT_OF_MEMORY) hooks.code = Code::kResourceExhausted;
  give_up(common);
}

void on_progress(j_common_ptr common) {
  Hooks& hooks = hooks_of(common);
  const auto* info = reinterpret_cast<j_decompress_ptr>(common);
  if (info->input_scan_number <= static_cast<int>(hooks.scans_max)) return;
  hooks.code = Code::kResourceExhausted;
  std::snprintf(hooks.message, sizeof hooks.message, "more than %u scans", hooks.scans_max);
  std::longjmp(hooks.jump, 1);
}

constexpr std::size_t kRowAlignment = 32;
constexpr JDIMENSION kCropWidthMin = 16;

// The place of a row. libjpeg-turbo writes aligned rows past the CPU's caches, and the next step,
// which reads them at once, would wait for memory.
JSAMPROW unaligned_row(Buffer& memory) {
  auto* row = reinterpret_cast<JSAMPROW>(memory.data());
  const auto beyond = reinterpret_cast<std::uintptr_t>(row) % kRowAlignment;
  return row + (kRowAlignment - beyond) + kRowAlignment / 2;
}

class LibjpegReader final : public ImageReader {
 public:
  LibjpegReader();
  ~LibjpegReader() override { jpeg_destroy_decompress(&info_); }
  LibjpegReader(const LibjpegReader&) = delete;
  LibjpegReader& operator=(const LibjpegReader&) = delete;

  Result<ImageHeader> open(std::span<const std::byte> file, const ImageLimits& limits,
                           bool exif) override;
  bool reduce(std::uint32_t by) override;
  Status read(const Region& region, Colors colors, std::uint8_t* out) override;

 private:
  // Runs `action`, which must own no resources, and turns a longjmp out of it into a Status; then
  // it also resets the decompress object.
  template <typename Action>
  Status guarded(const Action& action);
  void renew();
  Status check_length(std::span<const std::byte> file) const;
  Orientation orientation() const;
  void choose_colors(Colors colors);
  bool crops(const Region& region);
  void read_rows(const Region& region, Colors colors, std::uint8_t* out);
  void crop_columns(const Region& region);
  void decode_rest();
  void convert_row(const Region& region, Colors colors, std::uint8_t* out);

  jpeg_decompress_struct info_{};
  Hooks hooks_;
  Buffer memory_;               // of row_
  JSAMPROW row_ = nullptr;      // one decoded row
  std::uint32_t row_left_ = 0;  // the picture's column in which decoded rows begin
};

LibjpegReader::LibjpegReader() {
  info_.err = jpeg_std_error(&hooks_.errors);
  hooks_.errors.error_exit = on_error;
  hooks_.errors.emit_message = on_message;
  hooks_.progress.progress_monitor = on_progress;
  info_.client_data = &hooks_;
  const Status status = guarded([this] { jpeg_create_decompress(&info_); });
  if (!status.ok()) throw std::bad_alloc();  // it can only fail for lack of memory
}

// A decompress object keeps the tables of its last file, and would decode a file without tables
// with them. So every file gets a new one, which takes 0.2 us.
void LibjpegReader::renew() {
  jpeg_destroy_decompress(&info_);
  jpeg_create_decompress(&info_);
  info_.progress = &hooks_.progress;
}

template <typename Action>
Status LibjpegReader::guarded(const Action& action) {
  hooks_.code = Code::kDataLoss;
  if (setjmp(hooks_.jump) == 0) {
    action();
    return {};
  }
  if (info_.mem != nullptr) jpeg_abort_decompress(&info_);
  return {hooks_.code, fmt::format("JPEG: {}", hooks_.message)};
}

Result<ImageHeader> LibjpegReader::open(std::span<const std::byte> file, const ImageLimits& limits,
                                        bool exif) {
  hooks_.scans_max = limits.scans_max;
  ECHOLINE_TRY(guarded([&] {
    renew();
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, exif ? 0xFFFF : 0);
    jpeg_read_header(&info_, TRUE);
  }));
  ImageHeader header;
  header.size = {info_.image_height, info_.image_width};
  ECHOLINE_TRY(check_size(header.size, limits, "JPEG"));
  ECHOLINE_TRY(check_length(file));
  if (exif) header.orientation = orientation();
  return header;
}

// Each block of 64 samples needs at least one bit of Huffman code. A file with fewer bits is
// truncated; it is refused before allocating memory for its pixels.
Status LibjpegReader::check_length(std::span<const std::byte> file) const {
  if (info_.arith_code) return {};  // arithmetic coding can use less than a bit per block
  std::uint64_t blocks = 0;
  for (int i = 0; i < info_.num_components; ++i) {
    const jpeg_component_info& component = info_.comp_info[i];
    blocks += std::uint64_t{component.width_in_blocks} * component.height_in_blocks;
  }
  if (blocks / 8 <= file.size()) return {};
  return {Code::kDataLoss,
          fmt::format("JPEG: {} bytes cannot hold the {} x {} pixels of its header", file.size(),
                      info_.image_width, info_.image_height)};
}

Orientation LibjpegReader::orientation() const {
  for (jpeg_saved_marker_ptr marker = info_.marker_list; marker != nullptr; marker = marker->next) {
    const std::span<const std::byte> payload(reinterpret_cast<const std::byte*>(marker->data),
                                             marker->data_length);
    if (const auto tiff = exif_of_app1(payload)) return exif_orientation(*tiff);
  }
  return 1;
}

// libjpeg converts YCbCr to RGB. Gray from colour files is computed here and not taken from the Y
// channel, because Pillow converts RGB to gray.
void LibjpegReader::choose_colors(Colors colors) {
  switch (info_.jpeg_color_space) {
    case JCS_CMYK:
    case JCS_YCCK:
      info_.out_color_space = JCS_CMYK;
      break;
    case JCS_GRAYSCALE:
      info_.out_color_space = colors == Colors::kGray ? JCS_GRAYSCALE : JCS_RGB;
      break;
    default:
      info_.out_color_space = JCS_RGB;
  }
}

bool LibjpegReader::reduce(std::uint32_t by) {
  info_.scale_num = 1;
  info_.scale_denom = by;
  return true;
}

Status LibjpegReader::read(const Region& region, Colors colors, std::uint8_t* out) {
  memory_.resize(std::size_t{info_.image_width} * 4 + 2 * kRowAlignment);
  row_ = unaligned_row(memory_);
  return guarded([&] {
    choose_colors(colors);
    jpeg_start_decompress(&info_);
    row_left_ = 0;
    if (crops(region)) {
      crop_columns(region);
      if (region.top > 0) jpeg_skip_scanlines(&info_, region.top);
    }
    read_rows(region, colors, out);
    if (!jpeg_has_multiple_scans(&info_)) decode_rest();
    jpeg_abort_decompress(&info_);
  });
}

// Files with several scans have been read to their end by now, so that a crop saves little; the
// other exceptions are rare. They are decoded from the first row on. So are reduced pictures: for
// some samplings, jpeg_crop_scanline then gives other pixels.
bool LibjpegReader::crops(const Region& region) {
  const bool whole = region.height == info_.image_height && region.width == info_.image_width;
  return !whole && info_.scale_denom == 1 && jpeg_has_multiple_scans(&info_) == FALSE &&
         !info_.arith_code && info_.out_color_space != JCS_CMYK;
}

// Lets libjpeg make the pixels of these columns only, and a few more. Upsampling of chroma takes
// the neighbour column into account, so there is one more on each side. It also treats rows of very
// few chroma columns in another way, so the crop has a least width.
void LibjpegReader::crop_columns(const Region& region) {
  bool subsampled = false;
  for (int i = 0; i < info_.num_components; ++i) {
    subsampled = subsampled || info_.comp_info[i].h_samp_factor != info_.max_h_samp_factor;
  }
  const JDIMENSION margin = subsampled ? 1 : 0;
  const auto block = static_cast<JDIMENSION>(
      info_.comps_in_scan == 1 ? DCTSIZE : info_.max_h_samp_factor * DCTSIZE);
  const JDIMENSION right = std::min(info_.image_width, region.left + region.width + margin);
  JDIMENSION left = (region.left - std::min(margin, region.left)) / block * block;
  if (right - left < kCropWidthMin && left > 0) left -= block;
  JDIMENSION width = std::min(info_.image_width - left, std::max(right - left, kCropWidthMin));
  jpeg_crop_scanline(&info_, &left, &width);
  row_left_ = left;
}

void LibjpegReader::read_rows(const Region& region, Colors colors, std::uint8_t* out) {
  const std::size_t row_bytes = region.width * channel_count(colors);
  const bool direct = region.width == info_.output_width &&
                      info_.output_components == static_cast<int>(channel_count(colors));
  while (info_.output_scanline < region.top) jpeg_read_scanlines(&info_, &row_, 1);
  for (std::uint32_t y = 0; y < region.height; ++y) {
    JSAMPROW target = out + y * row_bytes;
    jpeg_read_scanlines(&info_, direct ? &target : &row_, 1);
    if (!direct) convert_row(region, colors, target);
  }
}

// Decodes the entropy-coded data below the region, because a record is good or bad whatever its
// region is. Only the last row gets pixels: libjpeg leaves out rows that are skipped at the end.
void LibjpegReader::decode_rest() {
  const JDIMENSION rows = info_.output_height - info_.output_scanline;
  if (rows == 0) return;
  if (rows > 1) jpeg_skip_scanlines(&info_, rows - 1);
  jpeg_read_scanlines(&info_, &row_, 1);
}

void LibjpegReader::convert_row(const Region& region, Colors colors, std::uint8_t* out) {
  const auto channels = static_cast<std::size_t>(info_.output_components);
  std::uint8_t* pixels = row_ + (region.left - row_left_) * channels;
  if (info_.out_color_space == JCS_CMYK) inverted_cmyk_to_rgb(pixels, region.width, pixels);
  if (channels != 1 && colors == Colors::kGray) {
    rgb_to_gray(pixels, region.width, out);
  } else {
    std::memcpy(out, pixels, region.width * channel_count(colors));
  }
}

}  // namespace

std::unique_ptr<ImageReader> make_libjpeg_reader() { return std::make_unique<LibjpegReader>(); }

}  // namespace echoline::decode
