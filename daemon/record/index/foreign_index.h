// Index files of other programs next to the shards save the index pass: those of NVIDIA DALI's
// wds2idx and tfrecord2idx.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index/index_build.h"
#include "record/index/listing.h"
#include "record/index/shard_scan.h"
#include "source/core/source.h"

namespace echoline::record {

// A larger file is not read.
inline constexpr std::uint64_t kForeignIndexBytesMax = std::uint64_t{256} << 20;
// More bytes behind the last record are not looked through.
inline constexpr std::uint64_t kForeignIndexRestMax = 1 << 20;

// The addresses at which these programs put the index of a shard: "a.idx" (the name up to its first
// dot), "a.tar.idx", and the name without its last extension.
std::vector<std::string> foreign_index_addresses(std::string_view shard_url);

// Removes index files of other listed objects, in the form of Format::expand.
Status drop_foreign_indexes(source::Source& source, std::vector<Listed>& listed);

// Fills in the tables of shards that have none yet, where such a file fits; any other file is
// skipped with a log line. What the file says is not believed: its records cover the shard without
// gaps, and the format compares each of them with its bytes when it is cut (`wrong_foreign_index`).
// Returns how many it filled in.
std::size_t take_foreign_indexes(const std::vector<source::ObjectInfo>& shards,
                                 source::Source& source, const ForeignIndexRules& rules,
                                 KnownTables& known);

// The error for a record whose bytes are not what its foreign index says: kFailedPrecondition.
Status wrong_foreign_index(const Shard& shard, std::string_view what);

}  // namespace echoline::record
