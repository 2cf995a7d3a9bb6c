#include "record/index/index_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "record/index/listing.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kInFlightBytesMax = 64 << 20;

// For a web server: asks for each name of the first shard, and then for that of every shard.
std::vector<source::ObjectInfo> ask_for_each(const std::vector<std::string_view>& shard_urls,
                                             const IndexNames& names, source::Source& source) {
  const std::vector<std::string> firsts = names(shard_urls.front());
  for (std::size_t form = 0; form < firsts.size(); ++form) {
    if (!source.list(escape_glob(firsts[form])).ok()) continue;
    std::vector<std::string> addresses;
    for (const std::string_view shard : shard_urls) {
      const std::vector<std::string> all = names(shard);
      addresses.push_back(escape_glob(all[std::min(form, all.size() - 1)]));
    }
    auto objects = source.list_all(addresses);
    if (objects.ok()) return std::move(*objects);
  }
  return {};
}

}  // namespace

IndexFiles list_index_files(const std::vector<std::string_view>& shard_urls,
                            std::string_view suffix, const IndexNames& names,
                            source::Source& source) {
  std::map<std::string_view, std::vector<std::string_view>> folders;
  for (const std::string_view url : shard_urls) {
    folders[url.substr(0, url.rfind('/') + 1)].push_back(url);
  }
  IndexFiles found;
  for (const auto& [folder, urls] : folders) {
    auto objects = source.list(fmt::format("{}*{}", escape_glob(folder), suffix));
    // No such file in this folder.
    if (objects.status().code() == Code::kNotFound) continue;
    if (!objects.ok()) objects = ask_for_each(urls, names, source);
    for (source::ObjectInfo& object : *objects) found.emplace(object.url, object);
  }
  return found;
}

void read_all(source::Source& source, std::vector<ShardRead>& reads,
              const std::function<bool(ShardRead&)>& landed) {
  const auto start = [&](std::size_t number) {
    ShardRead& read = reads[number];
    source.submit({number, read.object, {{read.offset, read.buffer}}});
  };
  std::size_t next = 0, left = reads.size();
  std::uint64_t in_flight = 0;
  std::vector<source::ReadResult> done;
  // Every read that starts is waited for: they write into the buffers.
  while (left > 0) {
    // One range may exceed the bound, else it could never be read.
    while (next < reads.size() && source.slots_free() > 0 &&
           (in_flight == 0 || in_flight + reads[next].bytes <= kInFlightBytesMax)) {
      in_flight += reads[next].bytes;
      reads[next].buffer.resize(reads[next].bytes);
      start(next++);
    }
    done.clear();
    source.poll(UINT64_MAX, done);
    for (source::ReadResult& result : done) {
      ShardRead& read = reads[result.tag];
      read.status = std::move(result.status);
      read.checked = result.checked;
      ++read.answers;
      if (!landed(read)) {
        start(result.tag);
        continue;
      }
      in_flight -= read.bytes;
      // Frees the buffer, because `reads` lives until the end.
      read.buffer = {};
      --left;
    }
  }
}

}  // namespace echoline::record
