// Offsets in a header block are those of POSIX.1-1988 (ustar); GNU tar uses the same up to the
// prefix.
#include "record/tar/tar_header.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "record/core/text.h"

namespace echoline::record {
namespace {

constexpr std::size_t kNameAt = 0, kNameBytes = 100;
constexpr std::size_t kSizeAt = 124, kSizeBytes = 12;
constexpr std::size_t kChecksumAt = 148, kChecksumBytes = 8;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kLinkNameAt = 157, kLinkNameBytes = 100;
constexpr std::size_t kMagicAt = 257;
constexpr std::size_t kPrefixAt = 345, kPrefixBytes = 155;

// The text up to the first NUL; a full field has none.
std::string_view field(std::string_view block, std::size_t at, std::size_t bytes) {
  const std::string_view text = block.substr(at, bytes);
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> parse_octal(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
  std::string_view digits = text.substr(start);
  digits = digits.substr(0, digits.find_first_of(std::string_view(" \0", 2)));
  std::uint64_t value = 0;
  if (digits.empty()) return value;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// GNU's form for numbers that do not fit octal digits: the high bit set, then a big-endian number.
std::optional<std::uint64_t> parse_base256(std::string_view text) {
  std::uint64_t value = static_cast<unsigned char>(text[0]) & 0x7F;
  if ((value & 0x40) != 0) return std::nullopt;  // negative
  for (const char character : text.substr(1)) {
    if (value >> 55 != 0) return std::nullopt;
    value = value << 8 | static_cast<unsigned char>(character);
  }
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const bool binary = (static_cast<unsigned char>(text[0]) & 0x80) != 0;
  return binary ? parse_base256(text) : parse_octal(text);
}

// Some old writers summed signed bytes; like tar programs, this accepts both sums.
bool checksum_holds(std::string_view block) {
  const auto stored = parse_octal(block.substr(kChecksumAt, kChecksumBytes));
  if (!stored) return false;
  std::int64_t plain = 0, with_sign = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool blank = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    plain += blank ? ' ' : static_cast<unsigned char>(block[i]);
    with_sign += blank ? ' ' : static_cast<signed char>(block[i]);
  }
  const auto sum = static_cast<std::int64_t>(*stored);
  return sum == plain || sum == with_sign;
}

}  // namespace

bool is_zero_block(std::span<const std::byte> block) {
  return std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; });
}

Result<TarHeader> parse_tar_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kTarBlock) return Status(Code::kDataLoss, "a tar header has 512 bytes");
  const std::string_view block = as_text(bytes.first(kTarBlock));
  if (!checksum_holds(block)) return Status(Code::kDataLoss, "no tar header (checksum differs)");
  TarHeader header;
  header.name = field(block, kNameAt, kNameBytes);
  header.type = block[kTypeAt];
  header.link_name = field(block, kLinkNameAt, kLinkNameBytes);
  // GNU tar uses the bytes of the prefix for other fields; its magic ends with a space, not a NUL.
  if (block.substr(kMagicAt, 6) == std::string_view("ustar\0", 6)) {
    header.prefix = field(block, kPrefixAt, kPrefixBytes);
  }
  const auto size = parse_number(block.substr(kSizeAt, kSizeBytes));
  if (!size) return Status(Code::kDataLoss, "tar header with a size that is no number");
  header.bytes = *size;
  return header;
}

Status parse_pax(std::string_view text, PaxOverrides& overrides) {
  const Status malformed(Code::kDataLoss, "malformed pax header");
  while (!text.empty() && text[0] != '\0') {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc() || length > text.size()) return malformed;
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (length < digits + 2 || text[digits] != ' ' || text[length - 1] != '\n') return malformed;
    const std::string_view entry = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return malformed;
    const std::string_view key = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (key == "path") overrides.path = value;
    if (key == "linkpath") overrides.link_path = value;
    if (key == "GNU.sparse.name") overrides.sparse_name = value;
    if (key.starts_with("GNU.sparse")) overrides.sparse = true;
    if (key == "size") {
      std::uint64_t size = 0;
      const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (wrong != std::errc() || stop != value.data() + value.size()) return malformed;
      overrides.bytes = size;
    }
    text.remove_prefix(length);
  }
  return {};
}

}  // namespace echoline::record
