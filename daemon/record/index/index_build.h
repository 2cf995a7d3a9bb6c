// Builds the index of shards that must be scanned: many at once through one source, in bounded
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "record/index/shard_scan.h"
#include "record/index/stored_index.h"
#include "source/core/source.h"

namespace echoline::record {

// The part of an index that is one shard's.
struct ShardTable {
  RecordTable records;
  std::uint64_t unpacked_bytes = 0;  // as Shard has it
};

// By the place of the shard; empty where nothing is known.
using KnownTables = std::vector<std::optional<ShardTable>>;

// How shards are passed over. Small windows skip from header to header; large ones read everything
// once, which is faster where each request costs a round trip.
struct ScanSettings {
  std::uint64_t window_bytes = 4 << 20;
  std::uint32_t shards_at_once = 16;
  std::uint64_t skip_bytes = 0;  // as make_checksum_scan has it
};

// Files are cheap to seek in, stores (and what is throttled to imitate one) are not. At most 64 MiB
// are in flight.
ScanSettings scan_settings(const v1::Read& read, const std::vector<source::ObjectInfo>& shards,
                           const ScanSpec& format, Checksums checksums);

// Scans the shards that `known` has nothing for, in order. Errors name the shard and the offset.
Result<StoredIndex> build_index(const std::vector<source::ObjectInfo>& shards, KnownTables known,
                                const ScanSpec& format, source::Source& source,
                                const ScanSettings& settings, const ProgressFunction& progress);

}  // namespace echoline::record
