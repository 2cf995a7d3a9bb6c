// Lanes: how an epoch's records are divided into equal parts, and how rows of the lanes form global
// batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace echoline::plan {

// Divides [0, total) into `parts` ranges whose sizes differ by at most one, larger ones first. Used
// for the lanes of an epoch and the blocks of a lane. A value.
class EvenCut {
 public:
  EvenCut() = default;
  EvenCut(std::uint64_t total, std::uint64_t parts)
      : parts_(parts), least_(total / parts), longer_(total % parts) {}

  std::uint64_t parts() const { return parts_; }
  std::uint64_t begin(std::uint64_t part) const { return part * least_ + std::min(part, longer_); }
  std::uint64_t size(std::uint64_t part) const { return least_ + (part < longer_ ? 1 : 0); }
  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return least_ + (longer_ > 0 ? 1 : 0); }

 private:
  std::uint64_t parts_ = 1;
  std::uint64_t least_ = 0;
  std::uint64_t longer_ = 0;
};

struct LaneRow {
  std::uint32_t lane = 0;
  std::uint64_t row = 0;
};

// The global order of the lanes' rows: round by round, `chunk_rows` rows of each lane, without
// gaps. As long as every lane has a full chunk, locating a row is arithmetic; a table has the few
// chunks after that. Immutable; any thread may call it.
class LaneGrid {
 public:
  LaneGrid(std::uint32_t chunk_rows, std::vector<std::uint64_t> lane_rows);

  std::uint64_t rows() const { return rows_; }
  // Rows [0, even_rows()) are complete rounds: each lane has a full chunk.
  std::uint64_t even_rows() const { return even_rows_; }
  std::uint32_t chunk_rows() const { return chunk_rows_; }
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(lane_rows_.size()); }
  std::uint64_t lane_rows(std::uint32_t lane) const { return lane_rows_[lane]; }

  LaneRow locate(std::uint64_t row) const;
  // The inverse: the global row of a lane's row.
  std::uint64_t row_of(const LaneRow& place) const;
  // The number of rows, starting at `row`, that are consecutive in one lane.
  std::uint64_t run(std::uint64_t row) const;
  // How many of the global rows [0, row) belong to this lane.
  std::uint64_t lane_rows_before(std::uint64_t row, std::uint32_t lane) const;

 private:
  struct Chunk {
    std::uint64_t row;  // its first global row
    LaneRow start;
  };
  const Chunk& uneven_chunk(std::uint64_t row) const;

  std::uint32_t chunk_rows_;
  std::vector<std::uint64_t> lane_rows_;
  std::uint64_t rows_ = 0;
  std::uint64_t even_rows_ = 0;
  std::vector<Chunk> uneven_;
};

}  // namespace echoline::plan
