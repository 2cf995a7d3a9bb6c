// The index of single files: each is a shard with one record, and needs 16 bytes and its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/core/index.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// The text after the last dot of a file's name; "data" if there is none.
std::string_view file_extension(std::string_view path);

// Filled by one thread, then immutable and readable by any. The address of a file is its root and
// its path below it.
class FileIndex final : public Index {
 public:
  // Sets the root of the files that are added next.
  void add_root(std::string_view url);
  // The url must start with the last root.
  void add(const source::ObjectInfo& object);
  // Adds a root and its files from a shard that `store` wrote. kDataLoss for anything else.
  Status restore(const StoredIndex& stored, std::size_t shard);
  // Frees the unused capacity; call it after the last file.
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
  // The root of a file.
  std::string_view root_of(std::uint64_t record) const;
  std::uint64_t memory_bytes() const;

  std::size_t root_count() const { return roots_.size(); }
  const std::string& root(std::size_t number) const { return roots_[number].url; }
  // Adds a root as a shard and its files as records, as if the files followed each other. The key
  // is path, NUL, version.
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
