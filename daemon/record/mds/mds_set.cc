// A shard starts with a table of 32-bit words: the number of samples, and one more offset than
// samples.
#include "record/mds/mds_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "record/core/fields.h"
#include "record/index/checksum_scan.h"
#include "record/index/compressed_scan.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/mds/mds_sample.h"
#include "source/core/glob.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint32_t);

class MdsScan final : public ShardScan {
 public:
  MdsScan(std::uint64_t shard_bytes, std::uint64_t samples)
      : shard_bytes_(shard_bytes), samples_(samples) {}
  bool done() const override { return done_; }
  std::uint64_t position() const override { return done_ ? needed() : 0; }
  std::uint64_t needed() const override { return (samples_ + 2) * kWord; }
  Status take(std::span<const std::byte> window) override;
  RecordTable take_table() override { return std::move(table_); }
  const RecordTable& table() const override { return table_; }
  bool truncated() const override { return false; }
  bool is_certain() const override { return false; }

 private:
  const std::uint64_t shard_bytes_;
  const std::uint64_t samples_;
  bool done_ = false;
  RecordTable table_;
};

Status MdsScan::take(std::span<const std::byte> window) {
  const auto word = [&window](std::uint64_t number) {
    std::uint32_t value = 0;
    std::memcpy(&value, window.data() + number * kWord, kWord);
    return value;
  };
  const auto wrong = [](std::string_view what) {
    return Status(Code::kDataLoss, fmt::format("{}: the shard is damaged or another's; write it "
                                               "again together with its index.json",
                                               what));
  };
  // needed() is bounded by the size of the shard, as index.json states it.
  if (window.size() < needed()) return wrong("the shard ends within its table");
  if (word(0) != samples_) {
    return wrong(fmt::format("{} samples where index.json says {}", word(0), samples_));
  }
  std::uint64_t begin = word(1);
  if (begin < needed()) return wrong("offset 4: the first sample begins within the table");
  for (std::uint64_t i = 0; i < samples_; ++i) {
    const std::uint64_t end = word(i + 2);
    // Offsets must ascend within the shard, so every extent is valid.
    if (end < begin || end > shard_bytes_) {
      return wrong(fmt::format("offset {}: sample {} lies outside the shard", (i + 2) * kWord, i));
    }
    table_.add(begin, end - begin, "");
    begin = end;
  }
  done_ = true;
  return {};
}

class MdsDataSet final : public TableDataSet {
 public:
  MdsDataSet(StoredIndex stored, TableOptions options,
             std::vector<std::shared_ptr<const MdsColumns>> columns)
      : TableDataSet(std::move(stored), std::move(options)), columns_(std::move(columns)) {}
  std::string_view format() const override { return "mds"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    return cut_mds_sample(*columns_[table().shard_of(record)], bytes, fields);
  }

 private:
  const std::vector<std::shared_ptr<const MdsColumns>> columns_;  // by shard
};

// The index.json of an address: the address itself, or the file directly in that folder.
std::optional<source::ObjectInfo> find_mds_index(const Listed& listed) {
  if (!listed.url.ends_with('/')) {
    if (!listed.url.ends_with("/index.json") || listed.objects.size() != 1) return std::nullopt;
    return listed.objects.front();
  }
  const std::string wanted = source::unescape_glob(listed.url) + "index.json";
  for (const source::ObjectInfo& object : listed.objects) {
    if (object.url == wanted) return object;
  }
  return std::nullopt;
}

// The shards as the index files name them, and the objects with these names.
struct Shards {
  std::vector<MdsShard> named;
  std::vector<source::ObjectInfo> objects;
};

Status no_index(const Listed& listed) {
  std::string found;
  for (const source::ObjectInfo& object : listed.objects) {
    if (!object.url.ends_with("/index.json") || found.size() > 200) continue;
    found += found.empty() ? "; there is " : ", ";
    found += object.url;
  }
  return Status(Code::kNotFound, fmt::format("no index.json right in {}: write the folder of one "
                                             "split{}",
                                             listed.url, found));
}

Result<std::vector<MdsShard>> read_mds_index(const source::ObjectInfo& index,
                                             source::Source& source) {
  ECHOLINE_ASSIGN(const std::vector<std::byte> text, read_bytes(source, index, 0, index.bytes));
  return parse_mds_index({reinterpret_cast<const char*>(text.data()), text.size()});
}

const std::string& stored_name(const MdsShard& shard) {
  return shard.zip ? shard.zip->name : shard.name;
}

Status add_shards(const Listed& listed, source::Source& source, Shards& all) {
  const auto index = find_mds_index(listed);
  if (!index) return no_index(listed);
  if (index->bytes > kMdsIndexBytesMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} has {} bytes", index->url, index->bytes));
  }
  auto named = read_parsed(source, [&] { return read_mds_index(*index, source); });
  if (!named.ok()) return std::move(named).status().with_context(index->url);
  const std::string root = index->url.substr(0, index->url.rfind('/') + 1);
  std::unordered_map<std::string_view, const source::ObjectInfo*> by_url;
  for (const source::ObjectInfo& object : listed.objects) by_url.emplace(object.url, &object);
  std::vector<std::string> missing;
  for (MdsShard& shard : *named) {
    const auto raw = by_url.find(root + shard.name);
    // Unpacked shards, as in the local folder of StreamingDataset, are read in any order.
    if (raw != by_url.end() && raw->second->bytes == shard.bytes) shard.zip.reset();
    // An address of index.json alone lists no shards: they are looked up.
    const std::string url = root + stored_name(shard);
    if (!by_url.contains(url)) missing.push_back(escape_glob(url));
  }
  auto asked = source.list_all(missing);
  if (!asked.ok()) return std::move(asked).status().with_context("a shard of " + index->url);
  for (const source::ObjectInfo& object : *asked) by_url.emplace(object.url, &object);
  for (MdsShard& shard : *named) {
    const std::string url = root + stored_name(shard);
    const std::uint64_t bytes = shard.zip ? shard.zip->bytes : shard.bytes;
    const auto found = by_url.find(url);
    if (found == by_url.end() || found->second->bytes != bytes) {
      return Status(Code::kDataLoss,
                    fmt::format("{} has not the {} bytes that index.json says: it is truncated or "
                                "another's; copy the folder again",
                                url, bytes));
    }
    all.objects.push_back(*found->second);
    all.named.push_back(std::move(shard));
  }
  return {};
}

void log_unread(const std::vector<MdsShard>& shards) {
  if (shards.empty()) return;
  for (const MdsColumn& column : *shards.front().columns) {
    if (column.form != MdsForm::kUnread) continue;
    log_warning("record", "column '{}' is of encoding '{}', which is not supported: it is no field",
                column.name, column.encoding);
  }
}

Result<Match> match_mds(const FormatProbe& probe) {
  const auto index = find_mds_index(probe.listed.front());
  if (!index) return Match::kNone;
  ECHOLINE_ASSIGN(const std::vector<std::byte> text,
                  read_bytes(probe.source, *index, 0, std::min(index->bytes, kMdsIndexBytesMax)));
  return is_mds_index(as_text(text)) ? Match::kIndexFile : Match::kNone;
}

std::unique_ptr<ShardScan> make_scan(const MdsShard& shard, const source::ObjectInfo& object,
                                     std::uint64_t skip_bytes) {
  const auto plain = [&shard](std::uint64_t bytes) {
    return std::make_unique<MdsScan>(bytes, shard.samples);
  };
  if (!shard.zip) return make_checksum_scan(plain(object.bytes), skip_bytes);
  return make_known_unpacking_scan(object.bytes, skip_bytes, {shard.bytes, shard.zip->compression},
                                   plain);
}

OpenedDataSet open_mds(const OpenRequest& request, std::vector<Listed> listed) {
  Shards shards;
  for (const Listed& entry : listed) ECHOLINE_TRY(add_shards(entry, request.source, shards));
  std::unordered_map<std::string, const MdsShard*> by_url;
  std::vector<std::shared_ptr<const MdsColumns>> columns;
  TableOptions options = table_options(request.read, request.state_dir);
  for (std::size_t i = 0; i < shards.named.size(); ++i) {
    const MdsShard& shard = shards.named[i];
    by_url[shards.objects[i].url] = &shard;
    columns.push_back(shard.columns);
    if (shard.zip) options.compression[shards.objects[i].url] = shard.zip->compression;
  }
  log_unread(shards.named);
  ScanSpec spec;
  spec.name = "mds";
  spec.table_at_start = true;
  spec.make_scan = [&by_url](const source::ObjectInfo& object, std::uint64_t skip_bytes) {
    return make_scan(*by_url.at(object.url), object, skip_bytes);
  };
  ECHOLINE_ASSIGN(StoredIndex stored, load_or_build_index(request, shards.objects, spec));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no samples in {}", listed.front().url));
  }
  return std::unique_ptr<DataSet>(
      std::make_unique<MdsDataSet>(std::move(stored), std::move(options), std::move(columns)));
}

}  // namespace

constinit const Format kMdsFormat = {
    .name = "mds",
    .match = match_mds,
    .open = open_mds,
};

}  // namespace echoline::record
