// Parses the header of a page (parquet-format, "Data pages").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "record/parquet/values.h"

namespace echoline::record {

enum class PageKind : std::uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

struct PageHeader {
  PageKind kind = PageKind::kData;
  std::size_t header_bytes = 0;
  std::size_t bytes = 0;           // as stored, without the header
  std::size_t unpacked_bytes = 0;  // levels included
  std::optional<std::uint32_t> crc;
  std::size_t values = 0;  // nulls included
  Encoding encoding = Encoding::kPlain;
  // Of kData: how levels are stored.
  Encoding definition_encoding = Encoding::kRle;
  Encoding repetition_encoding = Encoding::kRle;
  // Of kDataV2: the bytes of the levels, which come first and are never compressed.
  std::size_t definition_bytes = 0;
  std::size_t repetition_bytes = 0;
  bool compressed = true;
};

// Larger pages are refused: a reader has one of them in memory, twice if it is compressed.
inline constexpr std::size_t kPageBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kPageValuesMax = std::size_t{1} << 26;
// With the smallest and largest values of statistics.
inline constexpr std::size_t kPageHeaderMax = std::size_t{16} << 20;

// Nothing if the bytes end within the header. kDataLoss for a wrong one.
Result<std::optional<PageHeader>> parse_page_header(std::span<const std::byte> bytes);

}  // namespace echoline::record
