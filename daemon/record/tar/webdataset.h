// Format webdataset: tar shards whose member names say which files belong to one record.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/index/format.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// A record is the files of one sample. Its index comes from a scan of the headers of all shards.
extern const Format kWebDatasetFormat;

ScanSpec tar_scan_spec();

// Cuts the bytes of one record, headers included: every file is a field. `key` is the record's.
// kDataLoss for a truncated or damaged record, kFailedPrecondition for a record with another key.
Status cut_tar_record(std::string_view key, std::span<const std::byte> bytes, Fields& fields);

}  // namespace echoline::record
