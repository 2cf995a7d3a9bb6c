// MDS data sets: folders of shards with an index.json, which is used as it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"
#include "record/index/listing.h"

namespace echoline::record {

// The index.json of an address: the address itself, or the one right in the folder that it names.
std::optional<source::ObjectInfo> find_mds_index(const Listed& listed);

// Each address is a folder with an index.json, or the address of one. Where samples stand is read
// from the tables at the shards' starts, and stored in the state folder.
Result<std::unique_ptr<DataSet>> open_mds(const v1::Read& read, const std::vector<Listed>& listed,
                                          source::Source& source, const std::string& state_dir,
                                          const ProgressFunction& progress, Checksums checksums);

}  // namespace echoline::record
