// Sidecar index files: one host writes them next to the shards, other hosts read them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "record/index/index_build.h"
#include "record/index/stored_index.h"
#include "source/core/source.h"

namespace echoline::record {

// Whether every shard has a sidecar file; their contents are not looked at.
bool have_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source);

// Fills in the tables of shards that have none yet, from sidecar files that were written for a
// shard of that size; any other file is skipped with a log line. Returns how many it filled in.
std::size_t take_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                          KnownTables& known);

// Writes the sidecar file of every shard; the source must be open for writing. Returns the number
// of files.
Result<std::uint64_t> publish_sidecars(const StoredIndex& index, source::Source& source);

}  // namespace echoline::record
