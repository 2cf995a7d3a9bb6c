// The index has only the extent of a record: its tar headers are parsed again when it is cut.
#include "record/tar/webdataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "record/core/fields.h"
#include "record/index/compressed_scan.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/tar/shard_list.h"
#include "record/tar/tar_header.h"
#include "record/tar/tar_member.h"
#include "record/tar/tar_scan.h"
#include "source/core/source.h"

namespace echoline::record {
namespace {

class TarDataSet final : public TableDataSet {
 public:
  using TableDataSet::TableDataSet;
  std::string_view format() const override { return "webdataset"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    return cut_tar_record(table().stored_key(record), bytes, fields);
  }
};

bool is_lower(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

ScanSpec tar_scan_spec() {
  ScanSpec format;
  format.name = "webdataset";
  format.make_scan = [](const source::ObjectInfo& shard, std::uint64_t skip_bytes) {
    return make_unpacking_scan(shard.bytes, skip_bytes, [](std::uint64_t bytes) {
      return std::make_unique<TarScan>(bytes);
    });
  };
  return format;
}

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
    // parse_tar_member has checked that the headers are within the bytes.
    const std::uint64_t left = bytes.size() - at - member.header_bytes;
    if (member.data_bytes > left) {
      return Status(Code::kDataLoss, fmt::format("truncated: '{}' has {} of its {} bytes",
                                                 member.name, left, member.data_bytes));
    }
    if (const auto name = sample_name(member)) {
      // The bytes belong to another shard than the one that was indexed.
      if (!name->has_key(key)) {
        return Status(Code::kFailedPrecondition,
                      fmt::format("the shard has record '{}' where the index has '{}', so the "
                                  "index is another shard's: remove index files that were not "
                                  "made for it; {}",
                                  name->key(), key, source::kReindexHint));
      }
      std::string_view field = name->extension;
      if (!is_lower(field)) field = copy_to_scratch(fields, lower_ascii(field));
      fields.fields.push_back({field, bytes.subspan(at + member.header_bytes, member.data_bytes)});
    }
    // The padding of the last member may be missing.
    at += std::min<std::uint64_t>(member.total_bytes(), bytes.size() - at);
  }
  if (fields.fields.empty()) return Status(Code::kDataLoss, "the record holds no file");
  return {};
}

namespace {

Result<Match> match_webdataset(const FormatProbe& probe) {
  const bool is_tar = probe.head.size() >= kTarBlock && parse_tar_header(probe.head).ok();
  return is_tar ? Match::kContent : Match::kNone;
}

OpenedDataSet open_webdataset(const OpenRequest& request, std::vector<Listed> listed) {
  const std::vector<source::ObjectInfo> shards = flatten(std::move(listed));
  // An empty file is a failed upload, not an archive without records.
  for (const source::ObjectInfo& shard : shards) {
    if (shard.bytes > 0) continue;
    return Status(Code::kDataLoss, shard.url +
                                       " is no tar archive: it has 0 bytes; remove it from "
                                       "read.url or write it again");
  }
  ECHOLINE_ASSIGN(StoredIndex stored, load_or_build_index(request, shards, tar_scan_spec()));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no records in {} tar shards, the first is {}",
                                               shards.size(), shards.front().url));
  }
  return std::unique_ptr<DataSet>(std::make_unique<TarDataSet>(
      std::move(stored), table_options(request.read, request.state_dir)));
}

}  // namespace

constinit const Format kWebDatasetFormat = {
    .name = "webdataset",
    .match = match_webdataset,
    .open = open_webdataset,
    .expand = expand_shard_lists,
    .reads_compressed = true,
    .scans_shards = true,
};

}  // namespace echoline::record
