// Format webdataset: tar shards whose member names say which files belong to one record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/index/format.h"
#include "record/index/record_table.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// The fields of a record are its files by extension: the part of the basename after its first dot,
// lower-cased. Consecutive files with the same path up to that dot are one record, and that path is
// its key; an extension that repeats starts the next record. Folders, hidden files, names without a
// dot and "__meta__" files belong to no record. A link is the file that it leads to (tar_links.h);
// one that leads to no file of its archive makes its record bad.
//
// Reads ustar, pax, GNU long names and base-256 sizes, also in gzip, zstd and bzip2 files. Sparse
// files are kUnimplemented. The last record of a truncated shard stays in the index and is bad when
// it is cut; a truncated compressed shard is an error. A damaged header, or a file too short for
// one, is an error when the index is built. An archive of zero blocks has no records.
//
// The index comes from a scan of the headers of all shards.
extern const Format kWebDatasetFormat;

ScanSpec tar_scan_spec();

// The bytes of one record, headers included.
struct TarRecordBytes {
  std::string_view key;
  std::uint64_t offset = 0;        // of `own`, in the archive
  std::span<const std::byte> own;  // consecutive members
  // The files that its links lead to, with the links between, and their bytes, one after the other.
  std::span<const RecordPart> parts = {};
  std::span<const std::byte> linked = {};
};

// Cuts one record: every file is a field. kDataLoss for a truncated or damaged record and for a
// link that leads to no file, kFailedPrecondition for a record with another key.
Status cut_tar_record(const TarRecordBytes& record, Fields& fields);

// Whether members of a record are links.
bool has_tar_links(std::span<const std::byte> own);

}  // namespace echoline::record
