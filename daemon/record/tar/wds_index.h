// The index files that NVIDIA DALI's wds2idx makes for tar shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "record/index/record_table.h"

namespace echoline::record {

// The records of a shard by the text of its index, version 1.2: a line "v1.2 COUNT", and for each
// record a line with EXTENSION OFFSET SIZE NAME of each file (DALI's documentation of
// readers.webdataset). Grouped by the names, as a scan does. A record begins at the end of the one
// before it, so a file that the index lacks is found when that record is cut. kDataLoss for a text
// that does not fit a shard of this size; kUnimplemented for one that cannot tell the records:
// another version, names with spaces or special characters, an extension that a record has twice.
Result<RecordTable> parse_wds_index(std::string_view text, std::uint64_t shard_bytes);

// kDataLoss if there are records, or no tar headers, in the bytes behind the last indexed record.
Status check_tar_rest(std::span<const std::byte> rest);

}  // namespace echoline::record
