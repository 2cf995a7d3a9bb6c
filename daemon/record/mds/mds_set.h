// Format mds: folders of shards with an index.json, as MosaicML's writers make them.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Each address is a folder with an index.json, or the address of one. The fields of a record are
// the columns of a sample (mds_sample.h); the key is "FILE:NUMBER". Offsets of samples come from
// the tables at the start of the shards; the index is stored in the state folder.
extern const Format kMdsFormat;

}  // namespace echoline::record
