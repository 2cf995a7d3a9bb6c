// Reads the footers of many files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/parquet/group_reader.h"
#include "source/core/source.h"

namespace echoline::record {

// By the bytes of a footer. `wanted` as in read_schema.
Result<ParquetFile> make_parquet_file(std::span<const std::byte> footer, std::uint64_t file_bytes,
                                      const std::vector<std::string>& wanted);

using ParquetFiles = std::vector<std::shared_ptr<const ParquetFile>>;

// In the order of the objects, many at once. Errors name the file;
// kDataLoss also for a file whose fields are not those of the first one. Nothing else may be in
// flight. Blocks.
Result<ParquetFiles> read_footers(const std::vector<source::ObjectInfo>& objects,
                                  const std::vector<std::string>& wanted, source::Source& source);

}  // namespace echoline::record
