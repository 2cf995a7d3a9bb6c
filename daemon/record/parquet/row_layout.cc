#include "record/parquet/row_layout.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <string>

#include "base/crc.h"
#include "record/arrays/array_header.h"
#include "record/core/fields.h"

namespace echoline::record {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

std::array<std::byte, kLengthBytes> length_bytes(
    const std::optional<std::span<const std::byte>>& value) {
  const std::uint32_t length = value ? static_cast<std::uint32_t>(value->size()) : kNullLength;
  std::array<std::byte, kLengthBytes> bytes;
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes;
}

// Takes a length and that many bytes; null for kNullLength.
bool take_value(std::span<const std::byte>& rest,
                std::optional<std::span<const std::byte>>& value) {
  std::uint32_t length = 0;
  if (rest.size() < kLengthBytes) return false;
  std::memcpy(&length, rest.data(), kLengthBytes);
  rest = rest.subspan(kLengthBytes);
  value.reset();
  if (length == kNullLength) return true;
  if (length > rest.size()) return false;
  value = rest.first(length);
  rest = rest.subspan(length);
  return true;
}

Status wrong_row() { return Status(Code::kDataLoss, "the row's bytes do not fit its columns"); }

Status put_texts(const std::string& key, std::span<const std::byte> texts, Fields& fields) {
  std::optional<std::span<const std::byte>> text;
  for (std::size_t number = 0; !texts.empty(); ++number) {
    if (!take_value(texts, text) || !text) return wrong_row();
    fields.fields.push_back({copy_to_scratch(fields, fmt::format("{}[{}]", key, number)), *text});
  }
  return {};
}

Status put_value(const Column& column, std::span<const std::byte> value, Fields& fields) {
  switch (column.form) {
    case ColumnForm::kBytes:
      fields.fields.push_back({column.key, value});
      return {};
    case ColumnForm::kTexts:
      return put_texts(column.key, value, fields);
    case ColumnForm::kElements:
      if (value.size() % column.element.bytes != 0) return wrong_row();
      fields.fields.push_back({column.key, value});
      break;
    case ColumnForm::kNumber:
      if (value.size() != column.element.bytes) return wrong_row();
      // Half floats have no text.
      if (column.element.bytes != 2 || column.element.kind != ElementKind::kFloat) {
        const std::string text = element_text(column.element, value.data());
        fields.fields.push_back({column.key, as_bytes(copy_to_scratch(fields, text))});
      }
      break;
  }
  fields.fields.push_back({copy_to_scratch(fields, fmt::format("{}[]", column.key)), value});
  return {};
}

}  // namespace

Status RowSizes::put(std::uint64_t row, std::optional<std::span<const std::byte>> value) {
  if (row == bytes_.size()) {
    bytes_.push_back(0);
    checksums_.push_back(0);
  }
  const auto length = length_bytes(value);
  checksums_[row] = crc32c(checksums_[row], length);
  std::uint64_t bytes = length.size();
  if (value) {
    checksums_[row] = crc32c(checksums_[row], *value);
    bytes += value->size();
  }
  bytes_[row] += bytes;
  total_ += bytes;
  if (total_ <= bytes_max_) return {};
  return Status(Code::kResourceExhausted,
                fmt::format("a row group has more than read.unpack allows ({} bytes) when it is "
                            "decoded: raise it, or name fewer read.parquet.columns",
                            bytes_max_));
}

Status RowPlaces::put(std::uint64_t row, std::optional<std::span<const std::byte>> value) {
  const auto length = length_bytes(value);
  std::uint64_t& next = next_[row];
  const std::uint64_t bytes = length.size() + (value ? value->size() : 0);
  if (bytes > ends_[row] - next) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("row {} is larger than the index says: the file has changed", row));
  }
  std::memcpy(content_.data() + next, length.data(), length.size());
  if (value && !value->empty()) {
    std::memcpy(content_.data() + next + length.size(), value->data(), value->size());
  }
  next += bytes;
  return {};
}

Status RowPlaces::end() const {
  if (next_ == ends_) return {};
  return Status(Code::kFailedPrecondition,
                "a row is smaller than the index says: the file has changed");
}

Status cut_row(const Columns& columns, std::span<const std::byte> row, Fields& fields) {
  clear_fields(fields);
  std::optional<std::span<const std::byte>> value;
  for (const Column& column : columns.columns) {
    if (!take_value(row, value)) return wrong_row();
    if (value) ECHOLINE_TRY(put_value(column, *value, fields));
  }
  return row.empty() ? Status() : wrong_row();
}

}  // namespace echoline::record
