// The index of a folder's files: a shard and a record each, 16 bytes and its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/core/index.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// What follows the last dot of a file's name; "data" where there is none.
std::string_view file_extension(std::string_view path);

// Filled by one thread, then immutable and read by any. An address is its root's and what follows
// it.
class FileIndex final : public Index {
 public:
  // Files added from now on stand below this address.
  void add_root(std::string_view url);
  // `url` begins with the last root's.
  void add(const source::ObjectInfo& object);
  // A root and its files as `store` made a shard of them; kDataLoss for what it cannot have made.
  Status restore(const StoredIndex& stored, std::size_t shard);
  // Gives back what growing left over, once the last file is in.
  void shrink();

  std::uint64_t record_count() const override { return bytes_.size(); }
  std::size_t shard_count() const override { return bytes_.size(); }
  Shard shard(std::size_t shard_index) const override;
  Extent extent(std::uint64_t record) const override;
  // The path below the root: "class/file.jpg".
  std::string key(std::uint64_t record) const override { return std::string(path(record)); }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

  std::string_view path(std::uint64_t record) const;
  // What its path stands below.
  std::string_view root_of(std::uint64_t record) const;
  std::uint64_t memory_bytes() const;

  std::size_t root_count() const { return roots_.size(); }
  const std::string& root(std::size_t shard_index) const { return roots_[shard_index].url; }
  // Adds a root as a shard and its files as records, as if these lay one behind the other. A key is
  // path, NUL, version.
  void store(std::size_t root, StoredIndex& stored) const;

 private:
  struct Root {
    std::string url;
    std::uint64_t first = 0;
  };
  std::string_view text(std::uint64_t record) const;
  void end_file(std::uint64_t bytes);

  std::vector<Root> roots_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::uint64_t> text_end_;  // in text_: path, NUL, version
  std::string text_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace echoline::record
