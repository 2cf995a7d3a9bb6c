// Scans shards that may be compressed: finds their records while unpacking them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "record/index/shard_scan.h"

namespace echoline::record {

// Creates the scan of a plain shard of that size.
using PlainScan = std::function<std::unique_ptr<ShardScan>(std::uint64_t shard_bytes)>;

// The shard's first bytes decide. A plain shard is scanned as by make_checksum_scan. A gzip or zstd
// shard is read as a whole, in bounded memory; offsets and checksums of its records refer to the
// unpacked bytes.
std::unique_ptr<ShardScan> make_unpacking_scan(std::uint64_t shard_bytes, std::uint64_t skip_bytes,
                                               PlainScan plain);

}  // namespace echoline::record
