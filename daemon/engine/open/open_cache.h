// Opens the cache that a stream's definition asks for, and reports its counters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "batch/preparer.h"
#include "batch/sample_cache.h"
#include "cache/level_stats.h"
#include "cache/levels.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/open_data.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/memory_budget.h"

namespace echoline::engine {

// At most one of the two is there: without a cache step none.
struct OpenedCache {
  MemoryBudget::Reservation memory;             // all that the cache may take
  std::unique_ptr<cache::Levels> levels;        // of encoded records
  std::unique_ptr<batch::SampleCache> samples;  // of decoded ones
};

// For decoded samples, some records are read to learn their size.
Result<OpenedCache> open_cache(const std::string& name, const v1::Stream& stream,
                               const OpenedData& data, const batch::Preparer& preparer,
                               MemoryBudget& budget);

std::uint64_t cache_memory_bytes(const StreamCore& core);
std::vector<cache::LevelStats> cache_stats(const StreamCore& core);

}  // namespace echoline::engine
