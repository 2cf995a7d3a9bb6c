#include "record/open/joined_data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/part_starts.h"

namespace echoline::record {
namespace {

// The part that has a record or a shard, and its number there.
struct Place {
  std::size_t part;
  std::uint64_t number;
};

Place place_of(const PartStarts& starts, std::uint64_t number) {
  const std::size_t part = starts.part_of(number);
  return {part, number - starts.of(part)};
}

class JoinedIndex final : public Index {
 public:
  explicit JoinedIndex(std::vector<const Index*> parts) : parts_(std::move(parts)) {
    for (const Index* part : parts_) {
      records_.add(part->record_count());
      shards_.add(part->shard_count());
    }
  }

  std::uint64_t record_count() const override { return records_.total(); }
  std::size_t shard_count() const override { return shards_.total(); }
  Shard shard(std::size_t shard_index) const override {
    const auto [part, number] = place_of(shards_, shard_index);
    Shard shard = parts_[part]->shard(number);
    shard.first_record += records_.of(part);
    return shard;
  }
  Extent extent(std::uint64_t record) const override {
    const auto [part, number] = record_place(record);
    Extent extent = parts_[part]->extent(number);
    extent.shard += static_cast<std::uint32_t>(shards_.of(part));
    return extent;
  }
  std::uint64_t begins_at(std::uint64_t record) const override {
    const auto [part, number] = record_place(record);
    return parts_[part]->begins_at(number);
  }
  std::string key(std::uint64_t record) const override {
    const auto [part, number] = record_place(record);
    return parts_[part]->key(number);
  }
  std::uint64_t meta_files() const override { return sum(&Index::meta_files); }
  std::uint32_t checksum(std::uint64_t record) const override {
    const auto [part, number] = record_place(record);
    return parts_[part]->checksum(number);
  }
  // Checksums that are not trusted are only read more often where they do not fit.
  bool trusts_checksums() const override {
    return std::ranges::all_of(parts_, &Index::trusts_checksums);
  }
  std::uint64_t record_bytes_max() const override {
    std::uint64_t most = 0;
    for (const Index* part : parts_) most = std::max(most, part->record_bytes_max());
    return most;
  }
  std::uint64_t record_bytes_total() const override { return sum(&Index::record_bytes_total); }

  Place record_place(std::uint64_t record) const { return place_of(records_, record); }

 private:
  std::uint64_t sum(std::uint64_t (Index::*value)() const) const {
    std::uint64_t all = 0;
    for (const Index* part : parts_) all += (part->*value)();
    return all;
  }

  const std::vector<const Index*> parts_;
  PartStarts records_;
  PartStarts shards_;
};

std::vector<const Index*> indexes_of(const std::vector<NamedDataSet>& parts) {
  std::vector<const Index*> indexes;
  for (const NamedDataSet& part : parts) indexes.push_back(&part.data_set->index());
  return indexes;
}

class JoinedDataSet final : public DataSet {
 public:
  explicit JoinedDataSet(std::vector<NamedDataSet> parts)
      : parts_(std::move(parts)), index_(indexes_of(parts_)) {}

  const Index& index() const override { return index_; }
  std::string_view format() const override { return "mix"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    const auto [part, number] = index_.record_place(record);
    return parts_[part].data_set->cut(number, bytes, fields);
  }
  std::string metadata_text() const override {
    std::string text;
    for (const NamedDataSet& part : parts_) {
      const DataSet& data_set = *part.data_set;
      const std::string metadata = data_set.metadata_text();
      text += fmt::format("{} {} {} {}\n{}\n", part.name, data_set.format(),
                          data_set.index().shard_count(), metadata.size(), metadata);
    }
    return text;
  }
  bool random_access() const override {
    return std::ranges::all_of(
        parts_, [](const NamedDataSet& part) { return part.data_set->random_access(); });
  }
  std::vector<Part> source_parts() const override {
    std::vector<Part> parts;
    std::uint64_t first = 0;
    for (const NamedDataSet& part : parts_) {
      const Index& index = part.data_set->index();
      parts.push_back({first, index.record_count(), index.shard_count()});
      first += index.record_count();
    }
    return parts;
  }
  std::size_t part_of(std::uint64_t record) const override {
    return index_.record_place(record).part;
  }
  std::unique_ptr<source::Source> reading_part(std::unique_ptr<source::Source> source,
                                               std::size_t part) const override {
    return parts_[part].data_set->reading(std::move(source));
  }

 private:
  const std::vector<NamedDataSet> parts_;
  const JoinedIndex index_;
};

}  // namespace

std::unique_ptr<DataSet> join_data_sets(std::vector<NamedDataSet> parts) {
  if (parts.size() == 1) return std::move(parts.front().data_set);
  return std::make_unique<JoinedDataSet>(std::move(parts));
}

}  // namespace echoline::record
