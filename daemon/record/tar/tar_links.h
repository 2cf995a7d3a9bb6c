// Where hard and symbolic links of an archive lead, as after its extraction with GNU tar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index/packed_values.h"
#include "record/tar/tar_member.h"

namespace echoline::record {

// A longer chain of links is taken for a circle, as Linux does.
inline constexpr int kTarLinksMax = 40;

// A file or link of an archive. `bytes` are its headers, data and padding.
struct TarEntry {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  TarLink link = TarLink::kNone;
  std::string path;    // only of a link
  std::string target;  // only of a link, as written
};
TarEntry make_entry(const TarMember& member, std::uint64_t offset);
void put_entry(const TarEntry& entry, PackedWriter& out);
TarEntry take_entry(PackedReader& in);

// The path of a file below the archive's root, without ".", ".." and empty segments. Nothing for a
// path that leads out of the archive.
std::optional<std::string> archive_path(std::string_view folder, std::string_view path);

// The last member with this path (as archive_path makes it) that begins before an offset.
using FindTarEntry =
    std::function<std::optional<TarEntry>(const std::string& path, std::uint64_t before)>;

// Follows a link to a file. `passed` gets the members on the way, the file last; it is filled for a
// link that leads nowhere, too. A hard link leads to an earlier member, a symbolic link to the last
// one with that path. A hard link to a symbolic link is another symbolic link, in its own folder.
// kDataLoss, with the link and its target, if there is no such file in the archive or the links are
// a circle.
Status follow_link(const TarEntry& link, const FindTarEntry& find, std::vector<TarEntry>& passed);

// The files and links of one shard, while it is scanned: 24 bytes per member. Single-threaded.
class TarEntries {
 public:
  void add(const TarMember& member, std::uint64_t offset);
  // The members that a link leads through, found by the hashes of their paths, which can be equal
  // by chance: who reads the members compares their paths. Sorts the members before the first call.
  std::vector<TarEntry> passed(const TarEntry& link);

  // The members that begin in [begin, end), for restore() in another process. Not after passed().
  void put(std::uint64_t begin, std::uint64_t end, PackedWriter& out) const;
  // Adds them behind those that there are.
  void restore(PackedReader& in);

 private:
  struct Place {
    std::uint64_t hash = 0;  // of the path
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<TarEntry> find(const std::string& path, std::uint64_t before) const;

  std::vector<Place> places_;
  bool sorted_ = false;
  std::vector<TarEntry> links_;  // ascending by offset
};

}  // namespace echoline::record
