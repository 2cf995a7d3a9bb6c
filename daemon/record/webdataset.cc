// The tar data set: its index is the stored form itself; a record's headers are parsed again when
// it is cut.
#include "record/webdataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "record/fields.h"
#include "record/shard_index.h"
#include "record/tar_header.h"
#include "record/tar_member.h"

namespace echoline::record {
namespace {

class TarIndex final : public Index {
 public:
  explicit TarIndex(StoredIndex stored) : stored_(std::move(stored)) {
    for (const std::uint64_t bytes : stored_.records.bytes) {
      bytes_max_ = std::max(bytes_max_, bytes);
      bytes_total_ += bytes;
    }
  }
  std::uint64_t record_count() const override { return stored_.records.size(); }
  std::size_t shard_count() const override { return stored_.shards.size(); }
  Shard shard(std::size_t place) const override { return stored_.shards[place]; }
  Extent extent(std::uint64_t record) const override;
  std::string key(std::uint64_t record) const override { return std::string(key_view(record)); }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

  std::string_view key_view(std::uint64_t record) const { return stored_.records.key(record); }
  const StoredIndex& stored() const { return stored_; }

 private:
  const StoredIndex stored_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

Extent TarIndex::extent(std::uint64_t record) const {
  // The last shard that starts at or before the record; shards without records start where the next
  // does.
  const auto after = std::upper_bound(
      stored_.shards.begin(), stored_.shards.end(), record,
      [](std::uint64_t wanted, const Shard& shard) { return wanted < shard.first_record; });
  const auto shard = static_cast<std::uint32_t>(after - stored_.shards.begin() - 1);
  return {shard, stored_.records.offset[record], stored_.records.bytes[record]};
}

class TarDataSet final : public WebDataset {
 public:
  explicit TarDataSet(StoredIndex stored) : index_(std::move(stored)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "webdataset"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    return cut_tar_record(index_.key_view(record), bytes, fields);
  }
  RecordTable shard_table(std::size_t shard) const override {
    const Shard& wanted = index_.stored().shards[shard];
    RecordTable table;
    table.append(index_.stored().records, wanted.first_record, wanted.record_count);
    return table;
  }

 private:
  const TarIndex index_;
};

bool is_lower(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Status cut_tar_record(std::string_view key, std::span<const std::byte> bytes, Fields& fields) {
  clear_fields(fields);
  std::size_t at = 0;
  while (at < bytes.size()) {
    auto parsed = parse_tar_member(bytes.subspan(at));
    if (!parsed.ok()) return parsed.status();
    if (parsed->step == TarStep::kNeedMore) {
      return Status(Code::kDataLoss, "truncated: the shard ends within a tar header");
    }
    if (parsed->step == TarStep::kEnd) break;
    const TarMember& member = parsed->member;
    const std::uint64_t left = bytes.size() - at - member.header_bytes;
    if (member.data_bytes > left) {
      return Status(Code::kDataLoss, fmt::format("truncated: '{}' has {} of its {} bytes",
                                                 member.name, left, member.data_bytes));
    }
    if (const auto name = sample_name(member)) {
      if (!name->has_key(key)) {
        return Status(Code::kDataLoss,
                      fmt::format("the shard has record '{}' where the index has '{}': "
                                  "the index is another shard's",
                                  name->key(), key));
      }
      std::string_view field = name->extension;
      if (!is_lower(field)) field = keep(fields, lower_ascii(field));
      fields.fields.push_back({field, bytes.subspan(at + member.header_bytes, member.data_bytes)});
    }
    at += std::min<std::uint64_t>(member.total_bytes(), bytes.size() - at);
  }
  if (fields.fields.empty()) return Status(Code::kDataLoss, "the record holds no file");
  return {};
}

Result<std::unique_ptr<DataSet>> open_webdataset(const v1::Read& read,
                                                 std::vector<source::ObjectInfo> shards,
                                                 source::Source& source,
                                                 const std::string& state_dir,
                                                 const ProgressFunction& progress) {
  ECHOLINE_ASSIGN(StoredIndex stored,
                  load_or_build_index(read, shards, source, state_dir, progress));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no records in {} tar shards, the first is {}",
                                               shards.size(), shards.front().url));
  }
  return std::unique_ptr<DataSet>(std::make_unique<TarDataSet>(std::move(stored)));
}

}  // namespace echoline::record
