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

// The fields of a record are its files by extension: the part of the basename after its first dot,
// lower-cased. Consecutive files with the same path up to that dot are one record, and that path is
// its key; an extension that repeats starts the next record. Folders, links, hidden files, names
// without a dot and "__meta__" files belong to no record.
//
// Reads ustar, pax, GNU long names and base-256 sizes, also in gzip and zstd files. Sparse archives
// are kUnimplemented. The last record of a truncated shard stays in the index and is bad when it is
// cut; a truncated compressed shard is an error. A damaged header, or a file too short for one, is
// an error when the index is built. An archive of zero blocks has no records.
//
// The index comes from a scan of the headers of all shards.
extern const Format kWebDatasetFormat;

ScanSpec tar_scan_spec();

// Cuts the bytes of one record, headers included: every file is a field. `key` is the record's.
// kDataLoss for a truncated or damaged record, kFailedPrecondition for a record with another key.
Status cut_tar_record(std::string_view key, std::span<const std::byte> bytes, Fields& fields);

}  // namespace echoline::record
