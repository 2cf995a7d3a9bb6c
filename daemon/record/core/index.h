// The index of a data set: for each record its shard, extent and key. It is complete before the
// first batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::record {

// The bytes of one record in its shard, headers included.
struct Extent {
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Shard {
  source::ObjectInfo object;
  std::uint64_t first_record = 0;
  std::uint64_t record_count = 0;
  // Size of the content of a compressed object, in whose bytes extents count. 0: not compressed.
  std::uint64_t unpacked_bytes = 0;
  // Files that belong to no record because their names are reserved (WebDataset's "__meta__").
  std::uint64_t meta_files = 0;
  // The index file of another program that has the records (record/index/foreign_index.h), which is
  // read again at each start; empty: none.
  std::string foreign_index = {};

  std::uint64_t extents_end() const { return unpacked_bytes == 0 ? object.bytes : unpacked_bytes; }
};

class Index;

// The shards of an index, in its order. Each Shard is created on access: a folder has one shard per
// file, and a million of them as strings would need too much memory. A view, valid as long as its
// index.
class ShardList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Shard;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Shard;

    Iterator(const Index* index, std::size_t shard_index)
        : index_(index), shard_index_(shard_index) {}
    Shard operator*() const;
    Iterator& operator++() {
      ++shard_index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Index* index_;
    std::size_t shard_index_;
  };

  explicit ShardList(const Index* index) : index_(index) {}
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  Shard operator[](std::size_t shard_index) const;
  Iterator begin() const { return {index_, 0}; }
  Iterator end() const { return {index_, size()}; }

 private:
  const Index* index_;
};

// Immutable once built; any thread may read it.
class Index {
 public:
  virtual ~Index() = default;
  virtual std::uint64_t record_count() const = 0;
  // Every indexed object, including those without records (an empty tar, the labels of IDX images).
  virtual std::size_t shard_count() const = 0;
  virtual Shard shard(std::size_t shard_index) const = 0;
  ShardList shards() const { return ShardList(this); }
  // What to read through DataSet::reading. Extents of one shard do not overlap. That of a record in
  // several parts is beyond the end of its shard.
  virtual Extent extent(std::uint64_t record) const = 0;
  // Where the record begins in its shard, for messages.
  virtual std::uint64_t begins_at(std::uint64_t record) const { return extent(record).offset; }
  virtual std::string key(std::uint64_t record) const = 0;
  // Tokens of a document; 0: the index does not have their number.
  virtual std::uint64_t tokens(std::uint64_t) const { return 0; }
  // Of all shards.
  virtual std::uint64_t meta_files() const { return 0; }
  // CRC-32C of the bytes of its extent when the index was built; 0: not known.
  virtual std::uint32_t checksum(std::uint64_t) const { return 0; }
  // Whether the checksums were made where the data was certain (`echoline pack`, `echoline index
  // --checksums`, local files). Others were made from one answer of a store, which may have been
  // wrong.
  virtual bool trusts_checksums() const { return false; }
  // The size of the largest record (for buffers and the memory budget), and of all records.
  virtual std::uint64_t record_bytes_max() const = 0;
  virtual std::uint64_t record_bytes_total() const = 0;
  // Of an index with records.
  double record_bytes_mean() const {
    return static_cast<double>(record_bytes_total()) / static_cast<double>(record_count());
  }
};

inline Shard ShardList::Iterator::operator*() const { return index_->shard(shard_index_); }
inline std::size_t ShardList::size() const { return index_->shard_count(); }
inline Shard ShardList::operator[](std::size_t shard_index) const {
  return index_->shard(shard_index);
}

// Called at intervals while an index is built: shards and bytes done, and in total (0 while
// unknown). An error cancels the build.
struct Progress {
  std::uint64_t shards_done = 0, shards = 0, bytes_done = 0, bytes = 0, records = 0;
  std::string user_code = {};  // what is done with it now, instead of an index pass; empty: none
};
using ProgressFunction = std::function<Status(const Progress&)>;

// Which records get a checksum when an index is built: those whose bytes are read anyway, or all,
// which reads all data.
enum class Checksums : std::uint8_t { kIfRead, kAll };

}  // namespace echoline::record
