// Scans shards that may be compressed: their records are found while they are unpacked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "record/shard_scan.h"

namespace echoline::record {

// Makes the scan of a plain shard of that many bytes.
using PlainScan = std::function<std::unique_ptr<ShardScan>(std::uint64_t shard_bytes)>;

// Decides by the shard's first bytes: a plain one is scanned as it is, a gzip or zstd one is passed
// over as a whole, in bounded memory; the places of its records are those in the unpacked bytes.
std::unique_ptr<ShardScan> make_packable_scan(std::uint64_t shard_bytes, PlainScan plain);

}  // namespace echoline::record
