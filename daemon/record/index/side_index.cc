// Two rounds of parallel reads: the index files, and then the ends of their shards.
#include "record/index/side_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/log.h"
#include "record/core/text.h"

namespace echoline::record {
namespace {

constexpr std::string_view kSideSuffix = ".idx";
constexpr std::uint64_t kSideBytesInFlight = 64 << 20;  // or one larger file

// A range of an object on its way, for one shard.
struct SideRange {
  std::size_t shard = 0;
  source::ObjectInfo object;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> buffer = {};
  source::EqualAnswers answers{0};
  Status status = {};
};

// Reads all ranges, each as often as the source's answers_needed() says, and passes each to
// `landed` as soon as it is there or has failed.
class SideReads {
 public:
  SideReads(source::Source& source, std::vector<SideRange>& ranges)
      : source_(source), ranges_(ranges) {}
  void run(const std::function<void(SideRange&)>& landed);

 private:
  void start(std::size_t number);
  // Whether the range is certain, or has failed; else it is requested again.
  bool settle(SideRange& range, source::ReadResult& result);

  source::Source& source_;
  std::vector<SideRange>& ranges_;
  std::uint64_t in_flight_ = 0;
};

void SideReads::start(std::size_t number) {
  SideRange& range = ranges_[number];
  range.buffer.resize(range.bytes);
  source_.submit({number, range.object, {{range.offset, range.buffer}}});
}

bool SideReads::settle(SideRange& range, source::ReadResult& result) {
  range.status = std::move(result.status);
  if (!range.status.ok() || range.answers.take(range.buffer, result.checked)) return true;
  if (range.answers.differed()) source_.count_damaged();
  if (!range.answers.exhausted()) return false;
  range.status = source::never_equal(range.object, range.offset, range.bytes);
  return true;
}

void SideReads::run(const std::function<void(SideRange&)>& landed) {
  std::size_t next = 0, left = ranges_.size();
  std::vector<source::ReadResult> done;
  // Every read that starts is waited for: they write into the buffers.
  while (left > 0) {
    while (next < ranges_.size() && source_.slots_free() > 0 &&
           (in_flight_ == 0 || in_flight_ + ranges_[next].bytes <= kSideBytesInFlight)) {
      in_flight_ += ranges_[next].bytes;
      ranges_[next].answers = source::EqualAnswers(source_.answers_needed() > 1 ? 2 : 0);
      start(next++);
    }
    done.clear();
    source_.poll(UINT64_MAX, done);
    for (source::ReadResult& result : done) {
      SideRange& range = ranges_[result.tag];
      if (!settle(range, result)) {
        start(result.tag);
        continue;
      }
      in_flight_ -= range.bytes;
      landed(range);
      range.buffer = {};
      --left;
    }
  }
}

std::string_view side_name_of(std::string_view url) { return url.substr(url.rfind('/') + 1); }

std::string_view side_folder_of(std::string_view url) { return url.substr(0, url.rfind('/') + 1); }

// For a web server, which cannot list: one of the names, for every shard.
std::vector<source::ObjectInfo> ask_for_one_name(const std::vector<std::string_view>& shards,
                                                 source::Source& source) {
  const std::vector<std::string> firsts = side_index_addresses(shards.front());
  for (std::size_t form = 0; form < firsts.size(); ++form) {
    if (!source.list(escape_glob(firsts[form])).ok()) continue;
    std::vector<std::string> addresses;
    for (const std::string_view shard : shards) {
      const std::vector<std::string> all = side_index_addresses(shard);
      addresses.push_back(escape_glob(all[std::min(form, all.size() - 1)]));
    }
    auto objects = source.list_all(addresses);
    if (objects.ok()) return std::move(*objects);
  }
  return {};
}

// The index files in the folders of the shards that have no table yet, by address.
std::map<std::string, source::ObjectInfo> list_side_indexes(
    const std::vector<source::ObjectInfo>& shards, const KnownTables& known,
    source::Source& source) {
  std::map<std::string_view, std::vector<std::string_view>> folders;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!known[i]) folders[side_folder_of(shards[i].url)].push_back(shards[i].url);
  }
  std::map<std::string, source::ObjectInfo> found;
  for (const auto& [folder, urls] : folders) {
    auto objects = source.list(fmt::format("{}*{}", escape_glob(folder), kSideSuffix));
    if (objects.status().code() == Code::kNotFound) continue;
    if (!objects.ok()) objects = ask_for_one_name(urls, source);
    for (source::ObjectInfo& object : *objects) found.emplace(object.url, object);
  }
  return found;
}

void skip_side_index(std::string_view file, const Status& why) {
  log_warning("record", "{} is not used: {}; reading the shard instead", file, why.message());
}

std::vector<SideRange> side_index_files(const std::vector<source::ObjectInfo>& shards,
                                        const KnownTables& known, source::Source& source) {
  const auto files = list_side_indexes(shards, known, source);
  std::vector<SideRange> ranges;
  for (std::size_t i = 0; i < shards.size() && !files.empty(); ++i) {
    if (known[i]) continue;
    for (const std::string& address : side_index_addresses(shards[i].url)) {
      const auto file = files.find(address);
      if (file == files.end()) continue;
      if (file->second.bytes > kSideIndexBytesMax) {
        skip_side_index(address, Status(Code::kResourceExhausted,
                                        fmt::format("it has {} bytes", file->second.bytes)));
        break;
      }
      ranges.push_back({i, file->second, 0, file->second.bytes});
      break;
    }
  }
  return ranges;
}

Result<ShardTable> side_table_of(const SideRange& file, const source::ObjectInfo& shard,
                                 const SideIndexRules& rules) {
  if (!file.status.ok()) return file.status;
  ShardTable table;
  ECHOLINE_ASSIGN(table.records, rules.parse(as_text(file.buffer), shard.bytes));
  table.shard.object = shard;
  table.shard.record_count = table.records.size();
  table.shard.side_index = file.object.url;
  return table;
}

std::uint64_t records_end(const RecordTable& records) {
  return records.size() == 0 ? 0 : records.offset.back() + records.bytes.back();
}

}  // namespace

std::vector<std::string> side_index_addresses(std::string_view shard_url) {
  const std::string_view name = side_name_of(shard_url), folder = side_folder_of(shard_url);
  // A dot at the start of a name begins no extension.
  const std::size_t first = name.find('.', 1), last = name.rfind('.');
  std::vector<std::string> all;
  all.push_back(fmt::format("{}{}{}", folder, name.substr(0, first), kSideSuffix));
  for (const std::string_view stem : {name, name.substr(0, last == 0 ? name.size() : last)}) {
    std::string address = fmt::format("{}{}{}", folder, stem, kSideSuffix);
    if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(std::move(address));
  }
  return all;
}

Status drop_side_indexes(source::Source&, std::vector<Listed>& listed) {
  for (Listed& entry : listed) {
    std::set<std::string> indexes;
    for (const source::ObjectInfo& object : entry.objects) {
      if (object.url.ends_with(kSideSuffix)) continue;
      for (std::string& address : side_index_addresses(object.url)) {
        indexes.insert(std::move(address));
      }
    }
    std::erase_if(entry.objects, [&indexes](const source::ObjectInfo& object) {
      return object.url.ends_with(kSideSuffix) && indexes.contains(object.url);
    });
  }
  return {};
}

std::size_t take_side_indexes(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                              const SideIndexRules& rules, KnownTables& known) {
  if (rules.parse == nullptr) return 0;
  std::vector<SideRange> files = side_index_files(shards, known, source);
  std::vector<SideRange> rests;
  std::size_t taken = 0;
  SideReads(source, files).run([&](SideRange& file) {
    const source::ObjectInfo& shard = shards[file.shard];
    Result<ShardTable> table = side_table_of(file, shard, rules);
    if (!table.ok()) return skip_side_index(file.object.url, table.status());
    const std::uint64_t end = records_end(table->records), rest = shard.bytes - end;
    if (rest > (rules.check_rest == nullptr ? 0 : kSideIndexRestMax)) {
      return skip_side_index(
          file.object.url,
          Status(Code::kDataLoss,
                 fmt::format("its last record ends {} bytes before the end of the shard", rest)));
    }
    known[file.shard] = *std::move(table);
    ++taken;
    if (rest > 0) rests.push_back({file.shard, shard, end, rest});
  });
  SideReads(source, rests).run([&](SideRange& rest) {
    Status status = std::move(rest.status);
    if (status.ok()) status = rules.check_rest(rest.buffer);
    if (status.ok()) return;
    skip_side_index(known[rest.shard]->shard.side_index, status);
    known[rest.shard].reset();
    --taken;
  });
  return taken;
}

Status wrong_side_index(const Shard& shard, std::string_view what) {
  return Status(Code::kFailedPrecondition,
                fmt::format("{}; the index file {} does not fit the shard: remove it or make it "
                            "again; {}",
                            what, shard.side_index, source::kReindexHint));
}

}  // namespace echoline::record
