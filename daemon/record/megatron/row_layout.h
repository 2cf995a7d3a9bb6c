// Which pieces of documents are in each row of a packed file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "record/megatron/best_fit.h"
#include "record/megatron/sequence_index.h"

namespace echoline::v1 {
class Pack;
}

namespace echoline::record {

// Immutable; any thread may read it.
class RowLayout {
 public:
  virtual ~RowLayout() = default;
  virtual std::uint64_t rows() const = 0;
  // The pieces of a row, in the order of the file; none is empty, and none overlaps another.
  virtual std::vector<Piece> pieces(std::uint64_t row) const = 0;
  // Whether the pieces of every row follow each other without gaps.
  virtual bool in_order() const = 0;
};

// As read.pack says. `sequences` must outlive it.
Result<std::unique_ptr<RowLayout>> make_row_layout(const v1::Pack& pack,
                                                   const Sequences& sequences);

}  // namespace echoline::record
