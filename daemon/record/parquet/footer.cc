// Field numbers are those of parquet.thrift. Each element of a list is checked as soon as it is
// read: a short footer cannot claim a million of them.
#include "record/parquet/footer.h"

#include <fmt/core.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "record/parquet/thrift.h"

namespace echoline::record {
namespace {

constexpr std::string_view kMagic = "PAR1", kEncryptedMagic = "PARE";
constexpr std::int64_t kChildrenMax = 1 << 20;
constexpr std::int64_t kTypeBytesMax = 1 << 30;

bool has_magic(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Status no_footer(std::string_view what) {
  return Status(Code::kDataLoss,
                fmt::format("wrong footer: {}; the file is damaged: write it again", what));
}

// LogicalType, a union: the field that is set says which one it is.
void read_logical_type(ThriftReader& in, SchemaNode& node) {
  constexpr std::int32_t kString = 1, kMap = 2, kList = 3, kEnum = 4, kDecimal = 5, kInteger = 10,
                         kFloat16 = 15;
  in.each_field([&](const ThriftField& kind) {
    if (kind.id == kList) node.logical = LogicalKind::kList;
    if (kind.id == kMap) node.logical = LogicalKind::kMap;
    if (kind.id == kDecimal) node.logical = LogicalKind::kUnread;
    if (kind.id == kFloat16) node.logical = LogicalKind::kFloat16;
    if (kind.id == kString || kind.id == kEnum) node.logical = LogicalKind::kPlain;
    if (kind.id != kInteger || kind.type != ThriftType::kStruct) return in.skip(kind);
    node.logical = LogicalKind::kInteger;
    in.each_field([&](const ThriftField& field) {
      if (field.id == 1) {
        node.integer_bits = static_cast<std::uint32_t>(in.integer(field));
      } else if (field.id == 2) {
        node.integer_signed = in.boolean(field);
      } else {
        in.skip(field);
      }
    });
  });
}

// ConvertedType, what older files have instead of a LogicalType.
void take_converted_type(std::int64_t type, SchemaNode& node) {
  constexpr std::int64_t kMap = 1, kMapKeyValue = 2, kList = 3, kDecimal = 5, kUint8 = 11,
                         kInt64 = 18, kInterval = 21;
  if (type == kMap || type == kMapKeyValue) node.logical = LogicalKind::kMap;
  if (type == kList) node.logical = LogicalKind::kList;
  if (type == kDecimal || type == kInterval) node.logical = LogicalKind::kUnread;
  if (type >= kUint8 && type <= kInt64) {
    node.logical = LogicalKind::kInteger;
    node.integer_signed = type >= kUint8 + 4;
    node.integer_bits = 8U << ((type - kUint8) % 4);
  }
}

SchemaNode read_node(ThriftReader& in) {
  SchemaNode node;
  std::int64_t type = -1, type_bytes = 0, repetition = 0, children = 0, converted = -1;
  in.each_field([&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        type = in.integer(field);
        if (type < 0 || type > 7) in.fail();
        break;
      case 2:
        type_bytes = in.integer(field);
        break;
      case 3:
        repetition = in.integer(field);
        break;
      case 4:
        node.name = in.binary(field);
        break;
      case 5:
        children = in.integer(field);
        break;
      case 6:
        converted = in.integer(field);
        break;
      case 10:
        if (field.type == ThriftType::kStruct) return read_logical_type(in, node);
        in.fail();
        break;
      default:
        in.skip(field);
    }
  });
  const bool fixed = type == static_cast<std::int64_t>(PhysicalType::kFixedLenByteArray);
  if (repetition < 0 || repetition > 2 || children < 0 || children > kChildrenMax ||
      (fixed && (type_bytes <= 0 || type_bytes > kTypeBytesMax))) {
    in.fail();
  }
  if (type >= 0) node.type = static_cast<PhysicalType>(type);
  node.type_bytes = fixed ? static_cast<std::uint32_t>(type_bytes) : 0;
  node.repetition = static_cast<Repetition>(repetition);
  node.children = static_cast<std::uint32_t>(children);
  if (node.logical == LogicalKind::kPlain) take_converted_type(converted, node);
  return node;
}

// ColumnMetaData.
void read_column(ThriftReader& in, ColumnChunk& column) {
  std::int64_t type = -1, codec = -1, values = -1, bytes = -1, data = -1, dictionary = 0;
  in.each_field([&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        type = in.integer(field);
        break;
      case 4:
        codec = in.integer(field);
        break;
      case 5:
        values = in.integer(field);
        break;
      case 7:
        bytes = in.integer(field);
        break;
      case 9:
        data = in.integer(field);
        break;
      case 11:
        dictionary = in.integer(field);
        break;
      default:
        in.skip(field);
    }
  });
  if (type < 0 || type > 7 || codec < 0 || codec > 7 || values < 0 || bytes < 0 || data < 4) {
    in.fail();
  }
  column.type = static_cast<PhysicalType>(type);
  column.codec = static_cast<PageCodec>(codec);
  column.values = static_cast<std::uint64_t>(values);
  column.bytes = static_cast<std::uint64_t>(bytes);
  // Some writers set 0 where there is no dictionary.
  column.offset =
      static_cast<std::uint64_t>(dictionary >= 4 && dictionary < data ? dictionary : data);
}

ColumnChunk read_chunk(ThriftReader& in, bool& elsewhere) {
  ColumnChunk column;
  bool found = false;
  in.each_field([&](const ThriftField& field) {
    if (field.id == 3 && field.type == ThriftType::kStruct) {
      read_column(in, column);
      found = true;
    } else if (field.id == 1 || field.id == 8) {
      elsewhere = true;  // in another file, or encrypted
      in.skip(field);
    } else {
      in.skip(field);
    }
  });
  if (!found && !elsewhere) in.fail();
  return column;
}

RowGroup read_group(ThriftReader& in, bool& elsewhere) {
  RowGroup group;
  std::int64_t rows = -1;
  in.each_field([&](const ThriftField& field) {
    if (field.id == 1) {
      in.each_element(field, [&](const ThriftField& element) {
        if (element.type != ThriftType::kStruct) return in.fail();
        group.columns.push_back(read_chunk(in, elsewhere));
      });
    } else if (field.id == 3) {
      rows = in.integer(field);
    } else {
      in.skip(field);
    }
  });
  if (rows < 0) in.fail();
  group.rows = static_cast<std::uint64_t>(rows);
  return group;
}

Status check_group(const RowGroup& group, std::size_t number, std::size_t leaves,
                   std::uint64_t data_end) {
  if (group.columns.size() != leaves) {
    return no_footer(fmt::format("row group {} has {} columns where the schema has {}", number,
                                 group.columns.size(), leaves));
  }
  if (group.rows > kGroupRowsMax) {
    return Status(Code::kUnimplemented,
                  fmt::format("row group {} has {} rows, more than {}: write smaller row groups",
                              number, group.rows, kGroupRowsMax));
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    const ColumnChunk& column = group.columns[i];
    if (column.offset > data_end || column.bytes > data_end - column.offset) {
      return no_footer(fmt::format("row group {}, column {}: bytes {} + {} are not within the file",
                                   number, i, column.offset, column.bytes));
    }
  }
  return {};
}

Status check(const Footer& footer, std::int64_t rows, std::uint64_t data_end) {
  std::size_t leaves = 0;
  for (const SchemaNode& node : footer.schema) leaves += node.type ? 1 : 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < footer.row_groups.size(); ++i) {
    ECHOLINE_TRY(check_group(footer.row_groups[i], i, leaves, data_end));
    sum += footer.row_groups[i].rows;
  }
  if (rows < 0 || sum != static_cast<std::uint64_t>(rows)) {
    return no_footer(fmt::format("the row groups have {} rows, the file {}", sum, rows));
  }
  return {};
}

}  // namespace

bool is_parquet(std::span<const std::byte> head) { return has_magic(head, kMagic); }

Result<std::uint64_t> footer_bytes(std::span<const std::byte> tail, std::uint64_t file_bytes) {
  if (tail.size() < kParquetTailBytes) return no_footer("the file is too short");
  const auto last = tail.last(kParquetTailBytes);
  if (has_magic(last.subspan(4), kEncryptedMagic)) {
    return Status(Code::kUnimplemented, "the file is encrypted: write it without encryption");
  }
  if (!has_magic(last.subspan(4), kMagic)) {
    return Status(Code::kDataLoss,
                  "the file does not end as a Parquet file: it is truncated or of another format");
  }
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, last.data(), sizeof(bytes));
  if (bytes > kFooterBytesMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("the footer has {} bytes, more than {}", bytes, kFooterBytesMax));
  }
  if (bytes + kParquetTailBytes + kMagic.size() > file_bytes) {
    return no_footer(fmt::format("{} bytes long in a file of {}", bytes, file_bytes));
  }
  return std::uint64_t{bytes};
}

Result<Footer> parse_footer(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  Footer footer;
  ThriftReader in(bytes);
  std::int64_t rows = -1;
  bool elsewhere = false;
  in.each_field([&](const ThriftField& field) {
    switch (field.id) {
      case 2:
        return in.each_element(field, [&](const ThriftField& element) {
          if (element.type != ThriftType::kStruct) return in.fail();
          footer.schema.push_back(read_node(in));
          const SchemaNode& node = footer.schema.back();
          if (!node.type && node.children == 0 && footer.schema.size() > 1) in.fail();
        });
      case 3:
        rows = in.integer(field);
        return;
      case 4:
        return in.each_element(field, [&](const ThriftField& element) {
          if (element.type != ThriftType::kStruct) return in.fail();
          footer.row_groups.push_back(read_group(in, elsewhere));
        });
      default:
        in.skip(field);
    }
  });
  if (!in.ok()) {
    return no_footer(in.truncated() ? "it ends too early"
                                    : fmt::format("at its byte {}", in.bytes_read()));
  }
  if (elsewhere) {
    return Status(Code::kUnimplemented,
                  "columns are encrypted or in other files: write the file without that");
  }
  ECHOLINE_TRY(check(footer, rows, file_bytes - kParquetTailBytes - bytes.size()));
  return footer;
}

}  // namespace echoline::record
