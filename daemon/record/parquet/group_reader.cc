#include "record/parquet/group_reader.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>

namespace echoline::record {

std::uint64_t ParquetFile::rows() const {
  return std::accumulate(groups.begin(), groups.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RowGroup& group) { return sum + group.rows; });
}

GroupReader::GroupReader(const ParquetFile& file, std::size_t group, RowSink& sink)
    : columns_(*file.columns), group_(file.groups[group]), number_(group), sink_(sink) {
  begin_column();
}

void GroupReader::begin_column() {
  chunk_.reset();
  if (done()) return;
  chunk_ = std::make_unique<ChunkReader>(columns_.columns[column_], group_.columns[column_],
                                         group_.rows, sink_);
}

std::uint64_t GroupReader::position() const {
  return done() ? group_.columns.back().offset + group_.columns.back().bytes
                : group_.columns[column_].offset + chunk_->position();
}

Result<std::uint64_t> GroupReader::take(std::span<const std::byte> bytes) {
  auto taken = chunk_->take(bytes);
  if (!taken.ok()) {
    return std::move(taken).status().with_context(fmt::format("row group {}", number_));
  }
  if (chunk_->done()) {
    ++column_;
    begin_column();
  }
  return taken;
}

}  // namespace echoline::record
