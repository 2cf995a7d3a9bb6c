// Data sets whose index is a table of extents, as it is stored: tar shards, TFRecord, MDS.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "record/core/format.h"
#include "record/index/stored_index.h"
#include "record/index/unpacking_source.h"

namespace echoline::record {

// Records without a key of their own are called "FILE:NUMBER", counting from 0 within their file.
class TableIndex final : public Index {
 public:
  explicit TableIndex(StoredIndex stored);
  std::uint64_t record_count() const override { return stored_.records.size(); }
  std::size_t shard_count() const override { return stored_.shards.size(); }
  Shard shard(std::size_t place) const override { return stored_.shards[place]; }
  Extent extent(std::uint64_t record) const override;
  std::string key(std::uint64_t record) const override;
  std::uint32_t checksum(std::uint64_t record) const override;
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

  std::size_t shard_of(std::uint64_t record) const;
  // As it is stored; empty for a record without one.
  std::string_view stored_key(std::uint64_t record) const { return stored_.records.key(record); }
  const StoredIndex& stored() const { return stored_; }
  // Before others read it: checksums are kept, and not told.
  void hide_checksums() { tells_checksums_ = false; }

 private:
  const StoredIndex stored_;
  bool tells_checksums_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

// A format adds its way to cut.
class TableDataSet : public DataSet {
 public:
  explicit TableDataSet(StoredIndex stored);
  const Index& index() const final { return index_; }
  bool random_access() const override { return packed_.empty(); }
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override;
  // Where compressed shards are unpacked to while they are read; before `reading`.
  void set_unpacking(UnpackingOptions options) { unpacking_ = std::move(options); }
  void hide_checksums() { index_.hide_checksums(); }
  // The part of one shard, for publishing.
  RecordTable table_of(std::size_t shard) const;

 protected:
  const TableIndex& table() const { return index_; }

 private:
  TableIndex index_;
  PackedObjects packed_;
  UnpackingOptions unpacking_;
};

}  // namespace echoline::record
