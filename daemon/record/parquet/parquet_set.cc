#include "record/parquet/parquet_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/parquet/footers.h"
#include "record/parquet/group_unpacker.h"
#include "record/parquet/parquet_scan.h"
#include "record/parquet/row_layout.h"

namespace echoline::record {
namespace {

// Each part has a file and a file descriptor while it is kept, so it is not smaller than this,
// unless few would then be kept.
constexpr std::uint64_t kPartBytes = 32 << 20;
constexpr std::uint64_t kPartsMin = 16;

class ParquetDataSet final : public TableDataSet {
 public:
  // `all_columns`: none were chosen.
  ParquetDataSet(StoredIndex stored, TableOptions options, const ParquetFiles& files,
                 bool all_columns)
      : TableDataSet(std::move(stored), std::move(options)),
        columns_(files.front()->columns),
        all_columns_(all_columns) {
    UnpackedParts all;
    const std::uint64_t part_bytes = std::min(kPartBytes, unpacking().bytes_max / kPartsMin);
    for (std::size_t shard = 0; shard < files.size(); ++shard) {
      auto parts = parquet_parts(files[shard], shared_table(), shard, part_bytes);
      if (!parts.empty()) all[table().shard(shard).object.url] = std::move(parts);
    }
    set_parts(std::move(all));
  }
  std::string_view format() const override { return "parquet"; }
  Status cut(std::uint64_t, std::span<const std::byte> bytes, Fields& fields) const override {
    return cut_row(*columns_, bytes, fields);
  }
  // If all decoded row groups can be kept, each is decoded once, in any order.
  bool random_access() const override {
    std::uint64_t bytes = 0, files = 0;
    for (const auto& [url, object_parts] : parts()) {
      files += object_parts.size();
      for (const UnpackedPart& part : object_parts) bytes += part.form.bytes;
    }
    return bytes <= unpacking().bytes_max && files <= kUnpackedFilesMax;
  }
  Result<std::uint64_t> publish(source::Source& source) const override {
    if (all_columns_) return TableDataSet::publish(source);
    return Status(Code::kFailedPrecondition,
                  "an index of some of the columns is not for others: remove read.parquet.columns");
  }

 private:
  const std::shared_ptr<const Columns> columns_;
  const bool all_columns_;
};

Result<Match> match_parquet(const FormatProbe& probe) {
  return is_parquet(probe.head) ? Match::kContent : Match::kNone;
}

// Data sets of the Hugging Face hub have other files in their folders.
std::vector<source::ObjectInfo> parquet_objects(std::vector<Listed> listed) {
  for (Listed& entry : listed) {
    if (!entry.url.ends_with('/')) continue;
    std::erase_if(entry.objects, [](const source::ObjectInfo& object) {
      return !object.url.ends_with(".parquet");
    });
  }
  return flatten(std::move(listed));
}

Status check_rows(const StoredIndex& stored, const ParquetFiles& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Shard& shard = stored.shards[i];
    if (shard.record_count == files[i]->rows()) continue;
    return Status(Code::kFailedPrecondition,
                  fmt::format("{}: its index has {} rows, the file {}: make the index again",
                              shard.object.url, shard.record_count, files[i]->rows()));
  }
  return {};
}

OpenedDataSet open_parquet(const OpenRequest& request, std::vector<Listed> listed) {
  const std::string address = listed.front().url;
  const std::vector<source::ObjectInfo> objects = parquet_objects(std::move(listed));
  if (objects.empty()) {
    return Status(Code::kNotFound, fmt::format("no files named *.parquet below {}", address));
  }
  const auto& names = request.read.parquet().columns();
  const std::vector<std::string> wanted(names.begin(), names.end());
  ECHOLINE_ASSIGN(const ParquetFiles files, read_footers(objects, wanted, request.source));
  for (const std::string& key : files.front()->columns->unread) {
    log_warning("record", "column '{}' is of a type that is not supported: it is no field", key);
  }
  TableOptions options = table_options(request.read, request.state_dir);
  std::unordered_map<std::string, const ParquetFile*> by_url;
  for (std::size_t i = 0; i < objects.size(); ++i) by_url[objects[i].url] = files[i].get();
  ScanSpec spec;
  spec.name = "parquet";
  spec.sidecars = wanted.empty();
  spec.make_scan = [&](const source::ObjectInfo& object, std::uint64_t) {
    return make_parquet_scan(*by_url.at(object.url), options.unpacking.bytes_max);
  };
  ECHOLINE_ASSIGN(StoredIndex stored, load_or_build_index(request, objects, spec));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no rows in {} Parquet files, the first is {}",
                                               objects.size(), objects.front().url));
  }
  ECHOLINE_TRY(check_rows(stored, files));
  return std::unique_ptr<DataSet>(std::make_unique<ParquetDataSet>(
      std::move(stored), std::move(options), files, wanted.empty()));
}

}  // namespace

constinit const Format kParquetFormat = {
    .name = "parquet",
    .match = match_parquet,
    .open = open_parquet,
    .scans_shards = true,
};

}  // namespace echoline::record
