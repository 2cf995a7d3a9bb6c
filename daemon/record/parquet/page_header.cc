// Field numbers are those of parquet.thrift.
#include "record/parquet/page_header.h"

#include <fmt/core.h>

#include "record/parquet/thrift.h"

namespace echoline::record {
namespace {

std::size_t size_of(ThriftReader& in, const ThriftField& field) {
  const std::int64_t value = in.integer(field);
  if (value < 0) in.fail();
  return value < 0 ? 0 : static_cast<std::size_t>(value);
}

Encoding encoding_of(ThriftReader& in, const ThriftField& field) {
  const std::int64_t value = in.integer(field);
  if (value < 0 || value > static_cast<std::int64_t>(Encoding::kByteStreamSplit)) in.fail();
  return in.ok() ? static_cast<Encoding>(value) : Encoding::kPlain;
}

// DataPageHeader and DictionaryPageHeader.
void read_page(ThriftReader& in, bool is_data, PageHeader& page) {
  in.each_field([&](const ThriftField& field) {
    if (field.id == 1) {
      page.values = size_of(in, field);
    } else if (field.id == 2) {
      page.encoding = encoding_of(in, field);
    } else if (is_data && field.id == 3) {
      page.definition_encoding = encoding_of(in, field);
    } else if (is_data && field.id == 4) {
      page.repetition_encoding = encoding_of(in, field);
    } else {
      in.skip(field);
    }
  });
}

void read_page_v2(ThriftReader& in, PageHeader& page) {
  in.each_field([&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        page.values = size_of(in, field);
        break;
      case 4:
        page.encoding = encoding_of(in, field);
        break;
      case 5:
        page.definition_bytes = size_of(in, field);
        break;
      case 6:
        page.repetition_bytes = size_of(in, field);
        break;
      case 7:
        page.compressed = in.boolean(field);
        break;
      default:
        in.skip(field);
    }
  });
}

void read_field(ThriftReader& in, const ThriftField& field, PageHeader& page, bool& has_details) {
  const bool is_struct = field.type == ThriftType::kStruct;
  switch (field.id) {
    case 1: {
      const std::int64_t kind = in.integer(field);
      if (kind < 0 || kind > static_cast<std::int64_t>(PageKind::kDataV2)) return in.fail();
      page.kind = static_cast<PageKind>(kind);
      return;
    }
    case 2:
      page.unpacked_bytes = size_of(in, field);
      return;
    case 3:
      page.bytes = size_of(in, field);
      return;
    case 4:
      page.crc = static_cast<std::uint32_t>(in.integer(field));
      return;
    case 5:
    case 7:
      has_details = true;
      return is_struct ? read_page(in, field.id == 5, page) : in.fail();
    case 8:
      has_details = true;
      return is_struct ? read_page_v2(in, page) : in.fail();
    default:
      in.skip(field);
  }
}

}  // namespace

Result<std::optional<PageHeader>> parse_page_header(std::span<const std::byte> bytes) {
  PageHeader page;
  ThriftReader in(bytes);
  bool has_details = false;
  in.each_field([&](const ThriftField& field) { read_field(in, field, page, has_details); });
  if (!in.ok() && in.truncated() && bytes.size() < kPageHeaderMax) {
    return std::optional<PageHeader>();
  }
  if (!in.ok() || (!has_details && page.kind != PageKind::kIndex)) {
    return Status(Code::kDataLoss, "a wrong page header");
  }
  page.header_bytes = in.bytes_read();
  if (page.bytes > kPageBytesMax || page.unpacked_bytes > kPageBytesMax ||
      page.values > kPageValuesMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("a page of {} bytes and {} values, more than {} and {}: write "
                              "smaller pages",
                              page.unpacked_bytes, page.values, kPageBytesMax, kPageValuesMax));
  }
  return std::optional(page);
}

}  // namespace echoline::record
