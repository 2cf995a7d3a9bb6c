// Scans shards that may be compressed: their records are found while they are unpacked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "record/index/shard_scan.h"

namespace echoline::record {

// Makes the scan of a plain shard of that many bytes.
using PlainScan = std::function<std::unique_ptr<ShardScan>(std::uint64_t shard_bytes)>;

// Decides by the shard's first bytes: a plain one is scanned as make_checksum_scan says, a gzip or
// zstd one is passed over as a whole, in bounded memory; the places and the checksums of its
// records are those of the unpacked bytes.
std::unique_ptr<ShardScan> make_unpacking_scan(std::uint64_t shard_bytes, std::uint64_t skip_bytes,
                                               PlainScan plain);

}  // namespace echoline::record
