// Opens the cache that a stream's definition asks for, and tells about it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "cache/level_stats.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/memory_budget.h"
#include "source/core/source.h"

namespace echoline::engine {

// Sets `core.cache` or `core.samples`, and the preparer's use of it; the reservation is of all the
// memory it may take. Of samples to be decoded, some are read from `source` for their size.
Result<MemoryBudget::Reservation> open_cache(const v1::Stream& stream, source::Source& source,
                                             MemoryBudget& budget, StreamCore& core);

std::uint64_t cache_memory_bytes(const StreamCore& core);
std::vector<cache::LevelStats> cache_stats(const StreamCore& core);

}  // namespace echoline::engine
