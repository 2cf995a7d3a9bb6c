// The bytes of a row as a record: for each column its length in four bytes, and its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/parquet/row_assembly.h"
#include "record/parquet/schema.h"

namespace echoline::record {

inline constexpr std::uint32_t kNullLength = UINT32_MAX;

// The sizes and checksums of the rows of a row group, for its index. Takes the columns in their
// order.
class RowSizes final : public RowSink {
 public:
  // `bytes_max`: of all rows; kResourceExhausted beyond that.
  explicit RowSizes(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  Status put(std::uint64_t row, std::optional<std::span<const std::byte>> value) override;
  const std::vector<std::uint64_t>& bytes() const { return bytes_; }
  const std::vector<std::uint32_t>& checksums() const { return checksums_; }

 private:
  const std::uint64_t bytes_max_;
  std::uint64_t total_ = 0;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::uint32_t> checksums_;  // CRC-32C
};

// Writes the rows of a row group to their places.
class RowPlaces final : public RowSink {
 public:
  // Rows begin at these offsets of `content`; the end of the last one comes last.
  RowPlaces(std::span<std::byte> content, std::vector<std::uint64_t> offsets)
      : content_(content), ends_(std::move(offsets)), next_(ends_.begin(), ends_.end() - 1) {
    ends_.erase(ends_.begin());
  }
  // kFailedPrecondition if a row is larger than its place.
  Status put(std::uint64_t row, std::optional<std::span<const std::byte>> value) override;
  // After the last column: kFailedPrecondition if a row is smaller than its place.
  Status end() const;

 private:
  const std::span<std::byte> content_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint64_t> next_;
};

// Cuts a row into fields. A number is decimal text, and "NAME[]" is its raw element. A list of
// numbers is its raw elements, under both names. Texts of a list are "NAME[0]", "NAME[1]" and so
// on. A null is no field. kDataLoss for other bytes.
Status cut_row(const Columns& columns, std::span<const std::byte> row, Fields& fields);

}  // namespace echoline::record
