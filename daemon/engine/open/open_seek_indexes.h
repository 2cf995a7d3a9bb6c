// Opens the seek indexes of a stream's JPEG files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "batch/preparer.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/memory_budget.h"
#include "record/core/data_set.h"
#include "ring/ring.h"
#include "seek/indexes.h"

namespace echoline::engine {

struct SeekIndexOptions {
  double share = 0;  // of the budget, at most; 0: none are kept
  std::string state_dir;
  std::uint64_t spared_bytes = 0;   // left free in the budget
  std::uint64_t decoded_bytes = 0;  // mean size of a decoded record
};

struct OpenedSeekIndexes {
  MemoryBudget::Reservation memory;
  std::unique_ptr<seek::Indexes> indexes;  // null: none are kept
};

// After the first records were decoded: without a JPEG file among them there is nothing to keep.
// Blocks on the disk.
OpenedSeekIndexes open_seek_indexes(const v1::Stream& stream, const record::Index& index,
                                    const ring::RingSpec& ring, const batch::Preparer& preparer,
                                    const SeekIndexOptions& options, MemoryBudget& budget);

// Gives back the memory that indexes have reserved and do not use; no more are kept then. False if
// there is none. Under the registry's lock.
bool give_up_seek_room(StreamCore& core);

}  // namespace echoline::engine
