// Reads the column chunks of one row group, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/parquet/chunk_reader.h"
#include "record/parquet/footer.h"
#include "record/parquet/row_assembly.h"
#include "record/parquet/schema.h"

namespace echoline::record {

// What is known of a file by its footer. Its row groups have the columns that are read only, in
// the order of `columns`.
struct ParquetFile {
  std::shared_ptr<const Columns> columns;
  std::vector<RowGroup> groups;

  std::uint64_t rows() const;
};

// Single-threaded. The file and the sink must live as long. Columns come in their order, each with
// all of its rows. Errors name the row group.
class GroupReader {
 public:
  // The row group must have rows.
  GroupReader(const ParquetFile& file, std::size_t group, RowSink& sink);

  bool done() const { return column_ == group_.columns.size(); }
  // Where the next page begins in the file; pages follow each other within a column only.
  std::uint64_t position() const;
  std::uint64_t needed() const { return done() ? 0 : chunk_->needed(); }
  // As ChunkReader::take, with bytes from position() on.
  Result<std::uint64_t> take(std::span<const std::byte> bytes);

 private:
  void begin_column();

  const Columns& columns_;
  const RowGroup& group_;
  const std::size_t number_;
  RowSink& sink_;
  std::size_t column_ = 0;
  std::unique_ptr<ChunkReader> chunk_;
};

}  // namespace echoline::record
