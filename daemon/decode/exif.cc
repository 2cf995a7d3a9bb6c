#include "decode/exif.h"

#include <cstring>
#include <string_view>

namespace echoline::decode {
namespace {

constexpr std::uint32_t kTagOrientation = 0x0112;
constexpr std::size_t kEntryBytes = 12;

// Reads unsigned integers of a TIFF structure; 0 beyond its end, so damaged files need no checks.
class TiffView {
 public:
  explicit TiffView(std::span<const std::byte> bytes)
      : bytes_(bytes), big_endian_(bytes.size() > 1 && bytes[0] == std::byte{'M'}) {}

  std::uint32_t u16(std::size_t offset) const { return number(offset, 2); }
  std::uint32_t u32(std::size_t offset) const { return number(offset, 4); }

 private:
  std::uint32_t number(std::size_t offset, std::size_t width) const {
    if (offset > bytes_.size() || bytes_.size() - offset < width) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t place = big_endian_ ? i : width - 1 - i;
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[offset + place]);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
  bool big_endian_;
};

struct Turn {
  bool transpose;  // rows become columns, before mirroring
  bool mirror_rows;
  bool mirror_columns;
};

// Upright pixel (y, x) is stored at (y, x), swapped if `transpose`, then mirrored: counted from the
// last row or column. The table is that of the EXIF 2.3 specification, tag 0x0112.
constexpr Turn turn_of(Orientation orientation) {
  constexpr Turn kTurns[] = {{false, false, false}, {false, false, true}, {false, true, true},
                             {false, true, false},  {true, false, false}, {true, true, false},
                             {true, true, true},    {true, false, true}};
  return kTurns[orientation - 1];
}

}  // namespace

std::optional<std::span<const std::byte>> exif_of_app1(std::span<const std::byte> payload) {
  constexpr char kName[] = {'E', 'x', 'i', 'f', 0, 0};
  if (payload.size() < sizeof kName || std::memcmp(payload.data(), kName, sizeof kName) != 0) {
    return std::nullopt;
  }
  return payload.subspan(sizeof kName);
}

std::span<const std::byte> exif_of_png(std::span<const std::byte> file) {
  // The chunks before IDAT; lengths are checked against the file before they are used.
  constexpr std::size_t kSignatureBytes = 8;
  constexpr std::size_t kAroundBytes = 12;  // length, type and checksum of a chunk
  std::size_t at = kSignatureBytes;
  while (at <= file.size() && file.size() - at >= kAroundBytes) {
    const std::string_view head(reinterpret_cast<const char*>(file.data()) + at, 8);
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
    if (head.substr(4) == "IDAT" || length > file.size() - at - kAroundBytes) break;
    if (head.substr(4) == "eXIf") return file.subspan(at + 8, length);
    at += kAroundBytes + length;
  }
  return {};
}

std::span<const std::byte> exif_of_webp(std::span<const std::byte> file) {
  constexpr std::size_t kHeadBytes = 8;  // name and length of a chunk; its bytes fill pairs
  std::size_t at = 12;
  while (at <= file.size() && file.size() - at >= kHeadBytes) {
    const std::string_view head(reinterpret_cast<const char*>(file.data()) + at, kHeadBytes);
    std::size_t length = 0;
    for (std::size_t i = 4; i > 0; --i)
      length = length << 8 | static_cast<unsigned char>(head[3 + i]);
    if (length > file.size() - at - kHeadBytes) break;
    const std::span<const std::byte> content = file.subspan(at + kHeadBytes, length);
    // Some programs write the name of JPEG's segment before it.
    if (head.starts_with("EXIF")) return exif_of_app1(content).value_or(content);
    at += kHeadBytes + length + length % 2;
  }
  return {};
}

Orientation exif_orientation(std::span<const std::byte> tiff) {
  const TiffView view(tiff);
  const std::size_t directory = view.u32(4);
  const std::size_t entries = view.u16(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (view.u16(entry) != kTagOrientation) continue;
    const std::uint32_t value = view.u16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<Orientation>(value) : Orientation{1};
  }
  return 1;
}

Region stored_region(const Region& region, const ImageSize& stored, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  Region found = region;
  if (turn.transpose) found = {region.left, region.top, region.width, region.height};
  if (turn.mirror_rows) found.top = stored.height - found.top - found.height;
  if (turn.mirror_columns) found.left = stored.width - found.left - found.width;
  return found;
}

// Padding follows the last stored row and column. Mirrored, it comes before the first one.
Reduction upright_reduction(std::uint32_t by, const ImageSize& stored, Orientation orientation) {
  const Turn turn = turn_of(orientation);
  const auto before = [by](bool mirrored, std::uint32_t side) {
    return mirrored ? -static_cast<std::int32_t>((by - side % by) % by) : 0;
  };
  const std::int32_t rows = before(turn.mirror_rows, stored.height);
  const std::int32_t columns = before(turn.mirror_columns, stored.width);
  return turn.transpose ? Reduction{by, columns, rows} : Reduction{by, rows, columns};
}

void turn_upright(const std::uint8_t* stored, const ImageSize& size, std::size_t channels,
                  Orientation orientation, std::uint8_t* out) {
  const Turn turn = turn_of(orientation);
  const std::uint32_t height = turn.transpose ? size.width : size.height;
  const std::uint32_t width = turn.transpose ? size.height : size.width;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x, out += channels) {
      std::size_t row = turn.transpose ? x : y;
      std::size_t column = turn.transpose ? y : x;
      if (turn.mirror_rows) row = size.height - 1 - row;
      if (turn.mirror_columns) column = size.width - 1 - column;
      std::memcpy(out, stored + (row * size.width + column) * channels, channels);
    }
  }
}

}  // namespace echoline::decode
