// The data sets of several sources as one: the records and shards of the first, then those of the
// second, and so on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "record/core/data_set.h"

namespace echoline::record {

// The parts and their names, at least one.
struct NamedDataSet {
  std::string name;
  std::unique_ptr<DataSet> data_set;
};

// One part stays what it is. Extents are read through the part's own source.
std::unique_ptr<DataSet> join_data_sets(std::vector<NamedDataSet> parts);

}  // namespace echoline::record
