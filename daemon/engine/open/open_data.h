// Opens the data of a stream: one source, or those of a mixture.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "record/core/data_set.h"
#include "record/open/open_data_set.h"
#include "source/core/source.h"

namespace echoline::engine {

// The sources, one for each part of the data set.
struct OpenedData {
  std::vector<std::unique_ptr<source::Source>> sources;
  std::vector<std::string> metadata;  // DataSet::metadata_text() of each of them
  std::vector<std::string> names;     // a single one has an empty name
  std::unique_ptr<record::DataSet> data_set;

  source::Source& source_of(std::uint64_t record) const {
    return *sources[data_set->part_of(record)];
  }
};

// Lists and indexes all data. Blocks.
Result<OpenedData> open_data(const v1::Stream& stream, const std::string& state_dir,
                             const record::ProgressFunction& progress,
                             const record::OpenOptions& options);

// An error about the source of this name begins with it; an empty name changes nothing.
Status in_source(const std::string& name, Status status);

// What the settings of several sources mean for the stream as a whole: all addresses, and the
// largest limit. Of one source: its own settings.
v1::Read joined_read(const v1::Stream& stream);

}  // namespace echoline::engine
