// An entry is an encoded index of one shard.
#include "record/index/index_journal.h"

#include <span>
#include <utility>

namespace echoline::record {
namespace {

std::string path_next_to(const std::string& index_path, const char* suffix) {
  return index_path.empty() ? "" : index_path + suffix;
}

void append_shards(StoredIndex& all, const StoredIndex& more) {
  for (Shard shard : more.shards) {
    // Its records follow those of the shards before.
    shard.first_record += all.records.size();
    all.shards.push_back(std::move(shard));
  }
  all.records.append(more.records, 0, more.records.size());
}

}  // namespace

IndexJournal::IndexJournal(const std::string& index_path)
    : shards_(path_next_to(index_path, ".part")), scans_(path_next_to(index_path, ".scans")) {}

StoredIndex IndexJournal::load() const {
  StoredIndex all;
  shards_.load([&](std::span<const std::byte> body) {
    const Result<StoredIndex> index = decode_index(body);
    if (index.ok()) append_shards(all, *index);
    return index.ok();
  });
  return all;
}

void IndexJournal::add(const Shard& shard, const RecordTable& records) {
  if (shards_.keeps()) shards_.add(encode_index({{shard}, records}));
}

void IndexJournal::remove() {
  shards_.remove();
  scans_.remove();
}

}  // namespace echoline::record
