// Parses the footer of a Parquet file (parquet-format, "File format" and "Metadata").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// The numbers are those of the specification (parquet.thrift).
enum class PhysicalType : std::uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};
enum class Repetition : std::uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class PageCodec : std::uint8_t {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4Hadoop = 5,
  kZstd = 6,
  kLz4Raw = 7,
};

// What a column's values mean, as far as it decides how they are read.
enum class LogicalKind : std::uint8_t { kPlain, kList, kMap, kInteger, kFloat16, kUnread };

// A node of the schema, in depth-first order.
struct SchemaNode {
  std::string name;
  std::optional<PhysicalType> type;  // none for a group
  std::uint32_t type_bytes = 0;      // of kFixedLenByteArray
  Repetition repetition = Repetition::kRequired;
  std::uint32_t children = 0;
  LogicalKind logical = LogicalKind::kPlain;
  std::uint32_t integer_bits = 0;  // of kInteger
  bool integer_signed = true;
};

// One column of one row group: pages that follow each other.
struct ColumnChunk {
  PhysicalType type = PhysicalType::kBoolean;
  PageCodec codec = PageCodec::kUncompressed;
  std::uint64_t values = 0;  // nulls included
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
};

struct RowGroup {
  std::uint64_t rows = 0;
  std::vector<ColumnChunk> columns;  // in the order of the schema's leaves
};

struct Footer {
  std::vector<SchemaNode> schema;
  std::vector<RowGroup> row_groups;
};

// "PAR1" at the start and at the end of a file; before the one at the end, the footer's length.
inline constexpr std::uint64_t kParquetTailBytes = 8;
inline constexpr std::uint64_t kFooterBytesMax = 64 << 20;
// Bounds the memory for the places of a row group's rows.
inline constexpr std::uint64_t kGroupRowsMax = 16 << 20;

bool is_parquet(std::span<const std::byte> head);

// The length of the footer, by the last bytes of a file of that size. kDataLoss for another file,
// kUnimplemented for an encrypted one.
Result<std::uint64_t> footer_bytes(std::span<const std::byte> tail, std::uint64_t file_bytes);

// kDataLoss for a footer whose parts do not fit each other or the file.
Result<Footer> parse_footer(std::span<const std::byte> footer, std::uint64_t file_bytes);

}  // namespace echoline::record
