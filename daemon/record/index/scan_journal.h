// How far unfinished scans of large shards are, so that another process goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "record/index/entry_file.h"
#include "record/index/shard_scan.h"
#include "source/core/source.h"

namespace echoline::record {

// The parts that were kept of one scan; they follow each other.
struct KeptScan {
  std::vector<ScanPart> parts;
  bool careful = false;  // its bytes were compared with a second answer
};

// One thread. An entry has a part of a shard, the object's address, size and version, and the XXH3
// of all of it.
class ScanJournal {
 public:
  // An empty path: nothing is kept.
  explicit ScanJournal(std::string path);

  // What was kept of this object, once; no parts if that is another size or version.
  KeptScan take(const source::ObjectInfo& object);
  bool keeps() const { return file_.keeps(); }
  // `first`: the number of the part's first record in the shard.
  void add(const source::ObjectInfo& object, std::size_t first, const ScanPart& part, bool careful);
  // The scan begins again: its parts are not used any more.
  void forget(const source::ObjectInfo& object);
  void remove() { file_.remove(); }

 private:
  bool load(std::string_view body);

  using Key = std::tuple<std::string, std::string, std::uint64_t>;  // address, version, size
  EntryFile file_;
  std::map<Key, KeptScan> kept_;
};

// Keeps one scan while it proceeds. One thread.
class ScanKeeper {
 public:
  // Smaller objects are scanned again.
  static constexpr std::uint64_t kObjectBytesMin = std::uint64_t{64} << 20;
  // A part is kept after so many bytes, but not more often than this, and after so long.
  static constexpr std::uint64_t kPartBytes = 8 << 20;
  static constexpr std::uint64_t kPartNsMin = 20'000'000, kPartNsMax = 2'000'000'000;

  ScanKeeper(ScanJournal& journal, const source::ObjectInfo& object)
      : journal_(&journal), object_(&object) {}

  // Continues a new scan with what was kept, if there is something. False if the scan cannot take
  // it: it must not be used.
  bool restore(ShardScan& scan);
  // Whether there was something.
  bool has_kept() const { return kept_at_ > 0; }
  // What was kept is from a careful scan, so the scan has to be careful, too.
  bool careful() const { return careful_; }
  // Call it after each window that is certain.
  void keep(const ShardScan& scan, bool careful, std::uint64_t now_ns);
  // The scan begins again.
  void forget();

 private:
  ScanJournal* journal_;
  const source::ObjectInfo* object_;
  std::size_t records_ = 0;  // kept
  std::uint64_t kept_at_ = 0, kept_ns_ = 0;
  bool careful_ = false;
};

}  // namespace echoline::record
