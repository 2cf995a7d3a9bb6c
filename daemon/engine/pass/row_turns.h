// The places of ragged values in a batch that is written without decoding. In a slot, the values of
// all rows follow each other without gaps, so a row's place is known when the lengths of the rows
// before it are. Rows therefore take their places in order, and each value is written once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace echoline::engine {

class Chunk;

// Any thread. A chunk whose turn has not come waits here; no worker waits for it. What waits is
// bounded by the batch's chunks, which the batch owns.
class RowTurns {
 public:
  explicit RowTurns(std::size_t field_count) : ends_(field_count) {}

  // Whether row `index` of the batch's rows is next. If not, `chunk` waits for it: from then on
  // another worker may run the chunk.
  bool is_next(std::uint32_t index, Chunk& chunk) ECHOLINE_EXCLUDES(mutex_);
  // Takes the turn of the next row, whose values have these lengths in bytes (by field; those of
  // fixed fields mean nothing), and puts their places from the slot's start on into `begins`.
  // Returns the chunk that waits for the row after it; null if none does.
  Chunk* take(std::span<const std::uint64_t> lengths, std::vector<std::uint64_t>& begins)
      ECHOLINE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;  // no other lock is taken under it
  std::uint32_t next_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> ends_ ECHOLINE_GUARDED_BY(mutex_);          // by field
  std::map<std::uint32_t, Chunk*> waiting_ ECHOLINE_GUARDED_BY(mutex_);  // by their next row
};

}  // namespace echoline::engine
