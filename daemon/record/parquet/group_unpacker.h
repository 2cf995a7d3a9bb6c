// Decodes row groups into the rows that the index has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record/index/table_index.h"
#include "record/index/unpacked_part.h"
#include "record/parquet/group_reader.h"

namespace echoline::record {

// The parts of a file. Row groups are joined until a part has `part_bytes`; the last part may have
// fewer. `shard`: its number in the index.
std::vector<UnpackedPart> parquet_parts(std::shared_ptr<const ParquetFile> file,
                                        std::shared_ptr<const TableIndex> index, std::size_t shard,
                                        std::uint64_t part_bytes);

}  // namespace echoline::record
