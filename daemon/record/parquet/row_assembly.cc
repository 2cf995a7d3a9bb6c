#include "record/parquet/row_assembly.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace echoline::record {

Status RowAssembly::take_page(std::size_t values, PageLevels& levels, ValueDecoder& decoder) {
  while (values > 0) {
    const std::size_t count = std::min(values, kBatch);
    values -= count;
    ECHOLINE_ASSIGN(const std::size_t present, read_levels(count, levels));
    if (!decoder.decode(present, batch_)) {
      return Status(Code::kDataLoss, "its values end too early or are wrong");
    }
    ECHOLINE_TRY(column_.is_list() ? add_lists(count) : add_flat(count));
  }
  return {};
}

Result<std::size_t> RowAssembly::read_levels(std::size_t count, PageLevels& levels) {
  const std::span repetition = std::span(repetition_).first(count);
  const std::span definition = std::span(definition_).first(count);
  const bool repeats = column_.repetition_max > 0;
  if (repeats && !levels.repetition.decode(repetition)) {
    return Status(Code::kDataLoss, "its repetition levels end too early");
  }
  if (column_.definition_max == 0) {
    std::fill(definition.begin(), definition.end(), 0);
    return count;
  }
  if (!levels.definition.decode(definition)) {
    return Status(Code::kDataLoss, "its definition levels end too early");
  }
  std::size_t present = 0;
  for (const std::uint32_t level : definition) {
    if (level > column_.definition_max) return Status(Code::kDataLoss, "a level is too high");
    present += level == column_.definition_max ? 1 : 0;
  }
  return present;
}

// Integers of 8 and 16 bits are stored in four bytes.
std::span<const std::byte> RowAssembly::narrowed(std::span<const std::byte> value) const {
  return column_.is_number() ? value.first(column_.element.bytes) : value;
}

Status RowAssembly::add_flat(std::size_t count) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (definition_[i] == column_.definition_max) {
      ECHOLINE_TRY(finish(narrowed(batch_[next++])));
    } else {
      ECHOLINE_TRY(finish(std::nullopt));
    }
  }
  return {};
}

Status RowAssembly::add_lists(std::size_t count) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t level = definition_[i];
    if (repetition_[i] == 0) {
      ECHOLINE_TRY(finish_list());
      in_list_ = true;
      // One level below the first element: a list that is empty.
      is_null_ = level + 1 < column_.outer_list;
    } else if (!in_list_) {
      return Status(Code::kDataLoss, "the first row begins within a list");
    }
    if (level == column_.definition_max) {
      ECHOLINE_TRY(add_element(batch_[next++]));
    } else if (level >= column_.inner_list) {
      // An element that is null would move all others.
      is_null_ = true;
    }
  }
  return {};
}

Status RowAssembly::add_element(std::span<const std::byte> value) {
  value = narrowed(value);
  if (value.size() + sizeof(std::uint32_t) > kValueBytesMax - list_.size()) {
    return Status(Code::kResourceExhausted,
                  fmt::format("row {} has more than {} bytes", row_, kValueBytesMax));
  }
  if (column_.form == ColumnForm::kTexts) {
    const auto bytes = static_cast<std::uint32_t>(value.size());
    const auto* from = reinterpret_cast<const std::byte*>(&bytes);
    list_.insert(list_.end(), from, from + sizeof(bytes));
  }
  list_.insert(list_.end(), value.begin(), value.end());
  return {};
}

Status RowAssembly::finish(std::optional<std::span<const std::byte>> value) {
  if (row_ == rows_) return Status(Code::kDataLoss, "more rows than the row group");
  return sink_.put(row_++, value);
}

Status RowAssembly::finish_list() {
  if (!in_list_) return {};
  in_list_ = false;
  ECHOLINE_TRY(is_null_ ? finish(std::nullopt) : finish(list_));
  list_.clear();
  return {};
}

Status RowAssembly::end() {
  ECHOLINE_TRY(finish_list());
  if (row_ == rows_) return {};
  return Status(Code::kDataLoss,
                fmt::format("the column has {} rows, the row group {}", row_, rows_));
}

}  // namespace echoline::record
