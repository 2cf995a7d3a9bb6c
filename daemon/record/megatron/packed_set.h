// A data set whose records are rows of one length, filled with documents: `read.pack`.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "record/core/data_set.h"
#include "record/megatron/megatron_file.h"

namespace echoline::v1 {
class Pack;
}

namespace echoline::record {

// Each file is packed by itself, so rows are a function of its lengths and of `pack` only. The
// fields are those of packed_row.h, the key is "FILE:ROW".
Result<std::unique_ptr<DataSet>> make_packed_set(const v1::Pack& pack,
                                                 std::vector<MegatronFile> files);

}  // namespace echoline::record
