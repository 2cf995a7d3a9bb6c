// Adds checksums of records to a scan, by also reading the bytes between headers.
#pragma once

#include <cstdint>
#include <memory>

#include "record/index/shard_scan.h"

namespace echoline::record {

// Skips nothing, so that every record gets its checksum.
inline constexpr std::uint64_t kSkipNothing = UINT64_MAX;

// A scan that finds the same records as `plain`. Contents longer than `skip_bytes` beyond the bytes
// read so far are skipped, and their records have no checksum. With 0 it is `plain` itself, which
// skips as much as it can.
std::unique_ptr<ShardScan> make_checksum_scan(std::unique_ptr<ShardScan> plain,
                                              std::uint64_t skip_bytes);

}  // namespace echoline::record
