// Builds the index of tar shards: many shards at once through one source, in bounded memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "record/stored_index.h"
#include "source/source.h"

namespace echoline::record {

// How shards are passed over. Small windows skip from header to header; large ones read everything
// once, which is faster where each request costs a round trip.
struct ScanSettings {
  std::uint64_t window_bytes = 4 << 20;
  std::uint32_t shards_at_once = 16;
};

// Files are cheap to seek in, stores (and what is throttled to imitate one) are not. At most 64 MiB
// are in flight.
ScanSettings scan_settings(const v1::Read& read, const std::vector<source::ObjectInfo>& shards);

// Fills in the shards of `index` (objects set, no records yet) that `known` has nothing for, in
// order. `known[i]` is the table of shard i, or null. Errors name the shard and the offset.
Result<StoredIndex> build_tar_index(const std::vector<source::ObjectInfo>& shards,
                                    std::vector<const RecordTable*> known, source::Source& source,
                                    const ScanSettings& settings, const ProgressFunction& progress);

}  // namespace echoline::record
