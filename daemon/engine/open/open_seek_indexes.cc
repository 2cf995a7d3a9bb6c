#include "engine/open/open_seek_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/record_key.h"
#include "config/pipeline.h"
#include "engine/open/fingerprint.h"
#include "engine/open/open_data.h"

namespace echoline::engine {
namespace {

// How much the logs of other data sets may take on the disk, in shares of one stream's indexes. At
// a start it is also the room for the logs of streams that are opened later.
constexpr std::uint64_t kUnusedShares = 4;

// An upper estimate: most files have MCUs that are 16 pixels high, and are wider than they are
// high.
std::uint64_t entry_bytes(std::uint64_t picture_bytes) {
  const double height = std::sqrt(static_cast<double>(picture_bytes) / 3);
  const seek::EntryHead head{.points = static_cast<std::uint32_t>(height / 8) + 1};
  return head.bytes() + seek::EntryTable::kOverheadBytes;
}

// The numbers of files depend on the fields, in the order of their names, and on their keys.
std::vector<std::string> description(const v1::Stream& stream) {
  const v1::Read read = joined_read(stream);
  std::vector<std::string> words(read.url().begin(), read.url().end());
  words.push_back(read.endpoint());
  // A selection numbers its records in its own way.
  words.push_back(read.split().ShortDebugString());
  words.push_back(fmt::format("{}", read.limit()));
  for (std::size_t source = 0; source < config::reads_of(stream).size(); ++source) {
    std::map<std::string, std::string> keys;
    for (const auto& [name, field] : config::decode_of(stream, source).fields()) {
      keys[name] = field.key();
    }
    for (const auto& [name, key] : keys) {
      words.push_back(name);
      words.push_back(key);
    }
  }
  return words;
}

// Fields of the decode step that are pictures.
std::uint64_t image_fields(const batch::Preparer& preparer) {
  return static_cast<std::uint64_t>(
      std::ranges::count(preparer.decoded_types(), true, &decode::FieldType::image));
}

cache::Hash128 hash_of(const std::vector<std::string>& words) {
  return cache::hash_words(std::vector<std::string_view>(words.begin(), words.end()));
}

}  // namespace

OpenedSeekIndexes open_seek_indexes(const v1::Stream& stream, const record::Index& index,
                                    const ring::RingSpec& ring, const batch::Preparer& preparer,
                                    const SeekIndexOptions& options, MemoryBudget& budget) {
  OpenedSeekIndexes opened;
  if (options.share == 0 || preparer.image_counts().jpeg.own.load() == 0) return opened;
  const std::uint64_t fields = image_fields(preparer);
  const std::uint64_t files = index.record_count() * fields;
  const auto most_bytes =
      static_cast<std::uint64_t>(options.share * static_cast<double>(budget.budget_bytes()));
  opened.memory = budget.reserve_spare(
      std::min(most_bytes, files * entry_bytes(options.decoded_bytes / fields)),
      options.spared_bytes);
  std::vector<std::string> words = description(stream);
  const cache::Hash128 name = hash_of(words);
  // With the objects and their versions: other data has other files under the same numbers.
  words.emplace_back(ring.fingerprint.begin(), ring.fingerprint.begin() + kFingerprintDataBytes);
  std::string path;
  if (!options.state_dir.empty()) {
    path = fmt::format("{}/seek/{:016x}{:016x}.seek", options.state_dir, name.high, name.low);
  }
  opened.indexes = std::make_unique<seek::Indexes>(
      seek::Indexes::Options{.files = files,
                             .capacity_bytes = opened.memory.bytes(),
                             .path = std::move(path),
                             .identity = hash_of(words).low,
                             .unused_bytes_max = kUnusedShares * most_bytes});
  return opened;
}

bool give_up_seek_room(StreamCore& core) {
  if (core.seek_indexes == nullptr) return false;
  const std::uint64_t before = core.seek_memory.bytes();
  core.seek_memory.keep(core.seek_indexes->close());
  return core.seek_memory.bytes() < before;
}

}  // namespace echoline::engine
