// How many rows a worker makes at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/open/stream_core.h"

namespace echoline::engine {

// The most that a chunk has, more or less: one with a single row may have more bytes.
struct ChunkLimits {
  std::uint32_t rows = 1;
  std::uint64_t bytes = 0;  // of encoded records
};

// Any thread. Sizes change with what is measured; they never change what is in a row.
class ChunkSize {
 public:
  explicit ChunkSize(const StreamCore& core);

  // How rows are cut into chunks.
  ChunkLimits limits(std::uint64_t mean_record_bytes) const;
  // The rows of a chunk that are made together (RowGroup); 1: none.
  std::uint32_t group_rows() const;

 private:
  const StreamCore& core_;
  const std::uint32_t group_rows_max_;
};

}  // namespace echoline::engine
