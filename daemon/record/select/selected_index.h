// A part of an index: the records that `read.split` and `read.limit` choose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/core/index.h"

namespace echoline::record {

// Its records have numbers of their own, from 0, in the order of the whole index; its shards are
// those of the whole index, also the ones without a chosen record. Immutable; any thread may read
// it.
class SelectedIndex final : public Index {
 public:
  // `records` are numbers in `whole`, ascending. `whole` must outlive it.
  SelectedIndex(const Index& whole, std::vector<std::uint32_t> records);

  // The record's number in the whole index.
  std::uint64_t whole_record(std::uint64_t record) const { return records_[record]; }

  std::uint64_t record_count() const override { return records_.size(); }
  std::size_t shard_count() const override { return whole_.shard_count(); }
  Shard shard(std::size_t shard_index) const override;
  Extent extent(std::uint64_t record) const override { return whole_.extent(records_[record]); }
  std::uint64_t begins_at(std::uint64_t record) const override {
    return whole_.begins_at(records_[record]);
  }
  std::string key(std::uint64_t record) const override { return whole_.key(records_[record]); }
  std::uint64_t tokens(std::uint64_t record) const override {
    return whole_.tokens(records_[record]);
  }
  std::uint64_t meta_files() const override { return whole_.meta_files(); }
  std::uint32_t checksum(std::uint64_t record) const override {
    return whole_.checksum(records_[record]);
  }
  bool trusts_checksums() const override { return whole_.trusts_checksums(); }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

 private:
  const Index& whole_;
  const std::vector<std::uint32_t> records_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace echoline::record
