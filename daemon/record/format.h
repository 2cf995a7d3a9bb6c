// A format knows how records lie in their shards: it builds the index and cuts a record's bytes
// into fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index.h"

namespace echoline::record {

// One file of a record: "jpg", "cls", "tokens", ...; points into the record's bytes.
struct FieldBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

// The fields of one record; reused from record to record, so that cutting allocates nothing.
struct Fields {
  std::vector<FieldBytes> fields;
  // Room for names and values that do not stand in the record's bytes (a folder's class).
  std::string scratch;

  // The first field whose name is one of "a;b;c" in that order of preference; null if none.
  const FieldBytes* find(std::string_view keys) const;
};

// The opened data set of one stream: the index and the way to cut. Any thread may call `cut`.
class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual const Index& index() const = 0;
  virtual std::string_view format() const = 0;
  // A failure here is a verdict on verified bytes: the record is bad (RULES 23).
  virtual Status cut(std::uint64_t record, std::span<const std::byte> bytes,
                     Fields& fields) const = 0;
};

// Lists the shards, loads the index from `state_dir` (or from beside the data) when it still fits
// the objects' sizes and versions, and builds and stores it otherwise. Uses `source` alone, from
// the calling thread.
Result<std::unique_ptr<DataSet>> open_data_set(const v1::Read& read, source::Source& source,
                                               const std::string& state_dir,
                                               const ProgressFunction& progress);

}  // namespace echoline::record
