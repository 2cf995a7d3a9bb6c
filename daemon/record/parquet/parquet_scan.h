// Finds the rows of a Parquet file.
#pragma once

#include <cstdint>
#include <memory>

#include "record/index/shard_scan.h"
#include "record/parquet/group_reader.h"

namespace echoline::record {

// Decodes the columns that are read: the size of a row is known only then. Offsets and checksums
// are those of row_layout.h, row groups one after the other. `group_bytes_max`: of the rows of one
// row group. The file must live as long.
std::unique_ptr<ShardScan> make_parquet_scan(const ParquetFile& file,
                                             std::uint64_t group_bytes_max);

}  // namespace echoline::record
