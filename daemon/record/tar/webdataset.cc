// The index has only the extent of a record: its tar headers are parsed again when it is cut.
#include "record/tar/webdataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "record/core/fields.h"
#include "record/index/compressed_scan.h"
#include "record/index/foreign_index.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/tar/shard_list.h"
#include "record/tar/tar_header.h"
#include "record/tar/tar_member.h"
#include "record/tar/tar_scan.h"
#include "record/tar/wds_index.h"
#include "source/core/source.h"

namespace echoline::record {
namespace {

class TarDataSet final : public TableDataSet {
 public:
  using TableDataSet::TableDataSet;
  std::string_view format() const override { return "webdataset"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    const RecordTable& records = table().stored().records;
    const std::uint64_t own = std::min<std::uint64_t>(records.bytes[record], bytes.size());
    Status status = cut_tar_record({records.key(record), records.offset[record], bytes.first(own),
                                    records.parts_of(record), bytes.subspan(own)},
                                   fields);
    if (!has_foreign_indexes()) return status;
    return check_foreign_index(record, std::move(status), fields);
  }

 private:
  Status check_foreign_index(std::uint64_t record, Status status, const Fields& fields) const;
};

// Of a record that a foreign index has, whatever is wrong can be the index: an error in place of a
// bad record. A second file with an extension would begin another record without that index.
Status TarDataSet::check_foreign_index(std::uint64_t record, Status status,
                                       const Fields& fields) const {
  const Shard shard = table().shard(table().shard_of(record));
  if (shard.foreign_index.empty()) return status;
  if (!status.ok()) return wrong_foreign_index(shard, status.message());
  for (auto field = fields.fields.begin(); field != fields.fields.end(); ++field) {
    const bool twice = std::any_of(fields.fields.begin(), field, [&](const FieldBytes& earlier) {
      return earlier.name == field->name;
    });
    if (twice) return wrong_foreign_index(shard, fmt::format("'{}' comes twice", field->name));
  }
  return {};
}

Status expand_listing(source::Source& source, std::vector<Listed>& listed) {
  ECHOLINE_TRY(drop_foreign_indexes(source, listed));
  return expand_shard_lists(source, listed);
}

}  // namespace

ScanSpec tar_scan_spec() {
  ScanSpec format;
  format.name = "webdataset";
  format.foreign_index = {parse_wds_index, check_tar_rest};
  format.make_scan = [](const source::ObjectInfo& shard, std::uint64_t skip_bytes) {
    return make_unpacking_scan(shard.bytes, skip_bytes, [](std::uint64_t bytes) {
      return std::make_unique<TarScan>(bytes);
    });
  };
  return format;
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
    .expand = expand_listing,
    .reads_compressed = true,
    .scans_shards = true,
};

}  // namespace echoline::record
