// Adds the checksums of records to a scan, by reading what lies between the headers, too.
#pragma once

#include <cstdint>
#include <memory>

#include "record/index/shard_scan.h"

namespace echoline::record {

// Skips nothing: every record gets its checksum.
inline constexpr std::uint64_t kSkipNothing = UINT64_MAX;

// A scan that finds what `plain` finds. Contents of more than `skip_bytes` beyond the bytes that
// have been read are skipped, and their records are left without a checksum. With 0 it is `plain`
// itself, which skips all it can.
std::unique_ptr<ShardScan> make_checksum_scan(std::unique_ptr<ShardScan> plain,
                                              std::uint64_t skip_bytes);

}  // namespace echoline::record
