// Makes rows of the values and levels of a column (parquet-format, "Nested encoding").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/parquet/levels.h"
#include "record/parquet/schema.h"
#include "record/parquet/values.h"

namespace echoline::record {

// Takes what the rows of a row group have of one column, in their order.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Nothing for null. Elements follow each other; each of several texts has its length before it,
  // in four bytes.
  virtual Status put(std::uint64_t row, std::optional<std::span<const std::byte>> value) = 0;
};

// Not used where the column's maximum is 0.
struct PageLevels {
  HybridDecoder repetition;
  HybridDecoder definition;
};

// Single-threaded. A row may go on in the next page.
class RowAssembly {
 public:
  // Of one column in a row.
  static constexpr std::size_t kValueBytesMax = std::size_t{1} << 30;

  RowAssembly(const Column& column, std::uint64_t rows, RowSink& sink)
      : column_(column), rows_(rows), sink_(sink) {}
  Status take_page(std::size_t values, PageLevels& levels, ValueDecoder& decoder);
  // After the last page.
  Status end();

 private:
  static constexpr std::size_t kBatch = 1024;

  // The number of values that are not null, of the next ones.
  Result<std::size_t> read_levels(std::size_t count, PageLevels& levels);
  Status add_flat(std::size_t count);
  Status add_lists(std::size_t count);
  Status add_element(std::span<const std::byte> value);
  std::span<const std::byte> narrowed(std::span<const std::byte> value) const;
  Status finish_list();
  Status finish(std::optional<std::span<const std::byte>> value);

  const Column& column_;
  const std::uint64_t rows_;
  RowSink& sink_;
  std::uint64_t row_ = 0;  // the next one to finish
  std::array<std::uint32_t, kBatch> repetition_{};
  std::array<std::uint32_t, kBatch> definition_{};
  ValueBatch batch_;
  // The list that is not finished.
  bool in_list_ = false;
  bool is_null_ = false;
  std::vector<std::byte> list_;
};

}  // namespace echoline::record
