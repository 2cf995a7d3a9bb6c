// Two rounds of parallel reads: the index files, and then the ends of their shards.
#include "record/index/foreign_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/log.h"
#include "record/core/text.h"
#include "record/index/index_files.h"

namespace echoline::record {
namespace {

constexpr std::string_view kForeignSuffix = ".idx";

// Reads ranges until their bytes are certain, and passes each to `use` once. If it failed, its
// status says why.
void read_certain(source::Source& source, std::vector<ShardRead>& reads,
                  const std::function<void(ShardRead&)>& use) {
  std::vector<source::EqualAnswers> answers(reads.size(),
                                            source::EqualAnswers(source.answers_needed()));
  read_all(source, reads, [&](ShardRead& read) {
    source::EqualAnswers& seen = answers[static_cast<std::size_t>(&read - reads.data())];
    if (read.status.ok() && !seen.take(read.buffer, read.checked)) {
      if (seen.differed()) source.count_damaged();
      if (!seen.exhausted()) return false;
      read.status = source::never_equal(read.object, read.offset, read.bytes);
    }
    use(read);
    return true;
  });
}

std::string_view file_name_of(std::string_view url) { return url.substr(url.rfind('/') + 1); }

std::string_view folder_of_url(std::string_view url) { return url.substr(0, url.rfind('/') + 1); }

void skip_foreign_index(std::string_view file, const Status& why) {
  log_warning("record", "{} is not used: {}; reading the shard instead", file, why.message());
}

std::vector<ShardRead> foreign_index_files(const std::vector<source::ObjectInfo>& shards,
                                           const KnownTables& known, source::Source& source) {
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!known[i]) missing.push_back(shards[i].url);
  }
  const IndexFiles files =
      list_index_files(missing, kForeignSuffix, foreign_index_addresses, source);
  std::vector<ShardRead> reads;
  for (std::size_t i = 0; i < shards.size() && !files.empty(); ++i) {
    if (known[i]) continue;
    for (const std::string& address : foreign_index_addresses(shards[i].url)) {
      const auto file = files.find(address);
      if (file == files.end()) continue;
      if (file->second.bytes > kForeignIndexBytesMax) {
        skip_foreign_index(address, Status(Code::kResourceExhausted,
                                           fmt::format("it has {} bytes", file->second.bytes)));
      } else {
        reads.push_back({i, file->second, 0, file->second.bytes});
      }
      break;
    }
  }
  return reads;
}

Result<ShardTable> foreign_table_of(const ShardRead& file, const source::ObjectInfo& shard,
                                    const ForeignIndexRules& rules) {
  if (!file.status.ok()) return file.status;
  ShardTable table;
  ECHOLINE_ASSIGN(table.records, rules.parse(as_text(file.buffer), shard.bytes));
  table.shard.object = shard;
  table.shard.record_count = table.records.size();
  table.shard.foreign_index = file.object.url;
  return table;
}

std::uint64_t records_end(const RecordTable& records) {
  return records.size() == 0 ? 0 : records.offset.back() + records.bytes.back();
}

}  // namespace

std::vector<std::string> foreign_index_addresses(std::string_view shard_url) {
  const std::string_view name = file_name_of(shard_url), folder = folder_of_url(shard_url);
  // A dot at the start of a name begins no extension.
  const std::size_t first = name.find('.', 1), last = name.rfind('.');
  std::vector<std::string> all;
  all.push_back(fmt::format("{}{}{}", folder, name.substr(0, first), kForeignSuffix));
  for (const std::string_view stem : {name, name.substr(0, last == 0 ? name.size() : last)}) {
    std::string address = fmt::format("{}{}{}", folder, stem, kForeignSuffix);
    if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(std::move(address));
  }
  return all;
}

Status drop_foreign_indexes(source::Source&, std::vector<Listed>& listed) {
  for (Listed& entry : listed) {
    std::set<std::string> indexes;
    for (const source::ObjectInfo& object : entry.objects) {
      if (object.url.ends_with(kForeignSuffix)) continue;
      for (std::string& address : foreign_index_addresses(object.url)) {
        indexes.insert(std::move(address));
      }
    }
    std::erase_if(entry.objects, [&indexes](const source::ObjectInfo& object) {
      return object.url.ends_with(kForeignSuffix) && indexes.contains(object.url);
    });
  }
  return {};
}

std::size_t take_foreign_indexes(const std::vector<source::ObjectInfo>& shards,
                                 source::Source& source, const ForeignIndexRules& rules,
                                 KnownTables& known) {
  if (rules.parse == nullptr) return 0;
  std::vector<ShardRead> files = foreign_index_files(shards, known, source);
  std::vector<ShardRead> rests;
  std::size_t taken = 0;
  read_certain(source, files, [&](ShardRead& file) {
    const source::ObjectInfo& shard = shards[file.shard];
    Result<ShardTable> table = foreign_table_of(file, shard, rules);
    if (!table.ok()) return skip_foreign_index(file.object.url, table.status());
    const std::uint64_t end = records_end(table->records), rest = shard.bytes - end;
    if (rest > (rules.check_rest == nullptr ? 0 : kForeignIndexRestMax)) {
      return skip_foreign_index(
          file.object.url,
          Status(Code::kDataLoss,
                 fmt::format("its last record ends {} bytes before the end of the shard", rest)));
    }
    known[file.shard] = *std::move(table);
    ++taken;
    if (rest > 0) rests.push_back({file.shard, shard, end, rest});
  });
  read_certain(source, rests, [&](ShardRead& rest) {
    Status status = std::move(rest.status);
    if (status.ok()) status = rules.check_rest(rest.buffer);
    if (status.ok()) return;
    skip_foreign_index(known[rest.shard]->shard.foreign_index, status);
    known[rest.shard].reset();
    --taken;
  });
  return taken;
}

Status wrong_foreign_index(const Shard& shard, std::string_view what) {
  return Status(Code::kFailedPrecondition,
                fmt::format("{}; the index file {} does not fit the shard: remove it or make it "
                            "again; {}",
                            what, shard.foreign_index, source::kReindexHint));
}

}  // namespace echoline::record
