// Where each record of a data set stands: shards, extents, keys. Complete before the first batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "source/source.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::record {

// The bytes of one record within its shard, headers included.
struct Extent {
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Shard {
  source::ObjectInfo object;
  std::uint64_t first_record = 0;
  std::uint64_t record_count = 0;
};

// Immutable once built; any thread may read it.
class Index {
 public:
  virtual ~Index() = default;
  virtual std::uint64_t record_count() const = 0;
  virtual const std::vector<Shard>& shards() const = 0;
  virtual Extent extent(std::uint64_t record) const = 0;
  virtual std::string key(std::uint64_t record) const = 0;
  // The largest record, for buffers and the memory budget; and all of them together.
  virtual std::uint64_t record_bytes_max() const = 0;
  virtual std::uint64_t record_bytes_total() const = 0;
};

// Called now and then while an index is built: shards and bytes done and in all (0 while unknown).
struct Progress {
  std::uint64_t shards_done = 0, shards = 0, bytes_done = 0, bytes = 0, records = 0;
};
using ProgressFunction = std::function<void(const Progress&)>;

}  // namespace echoline::record
