// Index files that lie next to the shards, made by one host and used by the others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"
#include "record/index/index_build.h"
#include "source/core/source.h"

namespace echoline::record {

// Whether an index file lies beside each of the shards, whatever is in it.
bool all_beside(const std::vector<source::ObjectInfo>& shards, source::Source& source);

// Fills in the tables of shards that have none yet and an index file beside them that was made for
// a shard of their size; any other file is passed over with a log line. Returns their number.
std::size_t take_beside(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                        KnownTables& known);

// Writes an index file beside each shard, and the listing of a folder in a store below it, for
// hosts and later runs without a state folder; the source is that of the data set, opened for
// writing. Formats that need neither are kInvalidArgument. Returns the number written.
Result<std::uint64_t> publish_index(const DataSet& data_set, source::Source& source);

}  // namespace echoline::record
