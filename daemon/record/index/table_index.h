// Data sets with a table of extents as index: tar shards, TFRecord, MDS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "record/core/data_set.h"
#include "record/index/gathered_records.h"
#include "record/index/stored_index.h"
#include "record/index/unpacking_source.h"

namespace echoline::record {

// A record without a stored key has the key "FILE:NUMBER", counted from 0 in its file. Immutable;
// any thread may read it.
class TableIndex final : public Index {
 public:
  TableIndex(StoredIndex stored, bool use_checksums);
  std::uint64_t record_count() const override { return stored_.records.size(); }
  std::size_t shard_count() const override { return stored_.shards.size(); }
  Shard shard(std::size_t shard_index) const override { return stored_.shards[shard_index]; }
  Extent extent(std::uint64_t record) const override;
  std::uint64_t begins_at(std::uint64_t record) const override {
    return stored_.records.offset[record];
  }
  std::string key(std::uint64_t record) const override;
  std::uint32_t checksum(std::uint64_t record) const override;
  bool trusts_checksums() const override { return stored_.records.trusted; }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }
  std::uint64_t meta_files() const override;
  bool has_foreign_indexes() const { return has_foreign_indexes_; }

  std::size_t shard_of(std::uint64_t record) const;
  // The stored key; empty if there is none.
  std::string_view stored_key(std::uint64_t record) const { return stored_.records.key(record); }
  const StoredIndex& stored() const { return stored_; }
  const std::shared_ptr<const GatheredRecords>& gathered() const { return gathered_; }

 private:
  const StoredIndex stored_;
  const bool use_checksums_;
  const bool has_foreign_indexes_;                         // some shards have
  const std::shared_ptr<const GatheredRecords> gathered_;  // never null
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

struct TableOptions {
  bool use_checksums = true;   // false: the index keeps them, and checksum() returns 0
  UnpackingOptions unpacking;  // where compressed shards are unpacked to while they are read
  // How shards are compressed, by their addresses; others by their content.
  std::unordered_map<std::string, Compression> compression;
};

// As read.checksums, read.unpack and the state folder say.
TableOptions table_options(const v1::Read& read, const std::string& state_dir);

// A data set over a TableIndex; a format adds `format` and `cut`.
class TableDataSet : public DataSet {
 public:
  TableDataSet(StoredIndex stored, TableOptions options);
  const Index& index() const final { return *index_; }
  bool random_access() const override { return parts_.empty(); }
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override;
  Result<std::uint64_t> publish(source::Source& source) const override;

 protected:
  const TableIndex& table() const { return *index_; }
  const std::shared_ptr<const TableIndex>& shared_table() const { return index_; }
  bool has_foreign_indexes() const { return index_->has_foreign_indexes(); }
  const UnpackingOptions& unpacking() const { return unpacking_; }
  // How shards are unpacked, where they are not compressed streams. Call it in the constructor.
  void set_parts(UnpackedParts parts) { parts_ = std::move(parts); }
  const UnpackedParts& parts() const { return parts_; }

 private:
  const std::shared_ptr<const TableIndex> index_;
  const UnpackingOptions unpacking_;
  UnpackedParts parts_;  // empty: every shard is plain
};

}  // namespace echoline::record
