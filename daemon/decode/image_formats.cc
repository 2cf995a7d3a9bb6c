#include "decode/image_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "decode/avif.h"
#include "decode/png.h"
#include "decode/webp.h"

namespace echoline::decode {
namespace {

using std::string_view_literals::operator""sv;

const ImageFormat kFormats[] = {
    {"JPEG", "\xFF\xD8\xFF"sv, 0,
     [](const ImageShared& shared) { return make_jpeg_reader(&shared.jpegs); }, nullptr},
    {"PNG", "\x89PNG\r\n\x1A\n"sv, 0, [](const ImageShared&) { return make_png_reader(); },
     &ImageCounts::png},
    {"WebP", "WEBPVP8"sv, 8, [](const ImageShared&) { return make_webp_reader(); },
     &ImageCounts::webp},
    {"AVIF", "ftypavif"sv, 4, [](const ImageShared&) { return make_avif_reader(); },
     &ImageCounts::avif},
    {"AVIF", "ftypavis"sv, 4, [](const ImageShared&) { return make_avif_reader(); },
     &ImageCounts::avif},
};

constexpr std::string_view kReadNames = "JPEG, PNG, WebP and AVIF";

// Formats that are only recognised to name them in an error message.
struct Foreign {
  std::string_view magic;
  std::size_t offset;
  std::string_view name;
};
constexpr Foreign kForeign[] = {{"GIF8"sv, 0, "GIF"},
                                {"BM"sv, 0, "BMP"},
                                {"II*\0"sv, 0, "TIFF"},
                                {"MM\0*"sv, 0, "TIFF"},
                                {"ftyphei"sv, 4, "HEIC"},
                                {"ftypmif1"sv, 4, "HEIF"},
                                {"\xFF\x0A"sv, 0, "JPEG XL"},
                                {"\0\0\0\x0CJXL "sv, 0, "JPEG XL"},
                                {"\0\0\0\x0CjP  "sv, 0, "JPEG 2000"},
                                {"\x93NUMPY"sv, 0, "a numpy array"}};

}  // namespace

std::span<const ImageFormat> image_formats() { return kFormats; }

bool has_magic(std::span<const std::byte> file, std::string_view magic, std::size_t offset) {
  if (file.size() < offset + magic.size()) return false;
  const std::string_view head(reinterpret_cast<const char*>(file.data()) + offset, magic.size());
  return head == magic;
}

Status not_supported(std::span<const std::byte> file) {
  if (file.empty()) return {Code::kDataLoss, "the file is empty"};
  for (const Foreign& foreign : kForeign) {
    if (has_magic(file, foreign.magic, foreign.offset)) {
      return {Code::kInvalidArgument,
              fmt::format("the file is {}; {} are read", foreign.name, kReadNames)};
    }
  }
  std::string head;
  for (const std::byte byte : file.first(std::min<std::size_t>(file.size(), 8))) {
    head += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
  }
  return {Code::kDataLoss,
          fmt::format("none of {}: {} bytes that begin with{}", kReadNames, file.size(), head)};
}

}  // namespace echoline::decode
