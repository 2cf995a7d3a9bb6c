// Finds the lines of a text file.
#pragma once

#include <cstdint>
#include <memory>

#include "record/index/shard_scan.h"

namespace echoline::record {

// Every line with something else than blanks is a record, from its first byte that is not blank up
// to its end, without the line feed. A line may have any length.
std::unique_ptr<ShardScan> make_line_scan(std::uint64_t shard_bytes);

// The scan of plain and of compressed files. `name`: of the format.
ScanSpec line_scan_spec(std::string_view name);

}  // namespace echoline::record
