// Builds the index of shards by scanning them: many at once through one source, in bounded memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "record/index/index_journal.h"
#include "record/index/shard_scan.h"
#include "record/index/stored_index.h"
#include "source/core/source.h"

namespace echoline::record {

// One shard, whose first_record is not known yet, and its records.
struct ShardTable {
  Shard shard;
  RecordTable records;
};

// By shard; empty for a shard that must be scanned.
using KnownTables = std::vector<std::optional<ShardTable>>;

// How shards are scanned. Small windows skip from header to header. Large windows read everything
// once, which can be faster if each request costs a round trip.
struct ScanSettings {
  std::uint64_t window_bytes = 4 << 20;
  std::uint32_t shards_at_once = 16;
  std::uint64_t skip_bytes = 0;  // as in make_checksum_scan
  bool certain = false;          // all bytes as often as the source's answers_needed() says
  bool may_hop = false;          // small windows where they are measured to be faster (ScanChoice)
};

// Small windows for local files, large ones for stores and for files with a simulated latency. At
// most 64 MiB are in flight.
ScanSettings scan_settings(const v1::Read& read, const std::vector<source::ObjectInfo>& shards,
                           const ScanSpec& format, Checksums checksums);

// Scans the shards that are not in `known`; the index has all of them in order. Each scanned shard
// is added to the journal. Errors name the shard and the offset. An error of `progress` ends the
// pass within a second. After any error, reads may be in flight: the source must not be polled
// again.
Result<StoredIndex> build_index(const std::vector<source::ObjectInfo>& shards, KnownTables known,
                                const ScanSpec& format, source::Source& source,
                                const ScanSettings& settings, const ProgressFunction& progress,
                                IndexJournal& journal);

}  // namespace echoline::record
