// Paths are compared as text: a target behind a linked folder is not found.
#include "record/tar/tar_links.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace echoline::record {
namespace {

std::uint64_t path_hash(std::string_view path) { return XXH3_64bits(path.data(), path.size()); }

// Elements that begin in [begin, end), of a vector that ascends by offset.
template <typename T>
std::span<const T> between(const std::vector<T>& all, std::uint64_t begin, std::uint64_t end) {
  const auto at = [&](std::uint64_t offset) {
    return std::lower_bound(
        all.begin(), all.end(), offset,
        [](const T& entry, std::uint64_t wanted) { return entry.offset < wanted; });
  };
  return {at(begin), at(end)};
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Status leads_nowhere(const TarEntry& link, std::string_view why) {
  const bool hard = link.link == TarLink::kHard;
  return Status(Code::kDataLoss,
                fmt::format("'{}' is a {} link to '{}', {}: write the archive again with the file "
                            "itself, as tar does with {}",
                            link.path, hard ? "hard" : "symbolic", link.target, why,
                            hard ? "--hard-dereference" : "--dereference"));
}

// Where one link leads. Symbolic links to absolute paths lead out of the archive; of members and
// hard links, tar removes the slash at the beginning.
std::optional<std::string> target_path(const TarEntry& link, std::string_view folder) {
  if (link.link == TarLink::kHard) return archive_path({}, link.target);
  if (link.target.starts_with('/')) return std::nullopt;
  return archive_path(folder, link.target);
}

}  // namespace

TarEntry make_entry(const TarMember& member, std::uint64_t offset) {
  TarEntry entry{offset, member.total_bytes(), member.link, {}, {}};
  if (member.link == TarLink::kNone) return entry;
  entry.path = member.path();
  entry.target = member.link_name;
  return entry;
}

void put_entry(const TarEntry& entry, PackedWriter& out) {
  out.put(entry.offset);
  out.put(entry.bytes);
  out.put(std::uint64_t{static_cast<std::uint8_t>(entry.link)});
  out.put(std::string_view(entry.path));
  out.put(std::string_view(entry.target));
}

TarEntry take_entry(PackedReader& in) {
  TarEntry entry;
  entry.offset = in.number();
  entry.bytes = in.number();
  entry.link = in.number() == static_cast<std::uint8_t>(TarLink::kHard) ? TarLink::kHard
                                                                        : TarLink::kSymbolic;
  entry.path = in.text();
  entry.target = in.text();
  return entry;
}

std::optional<std::string> archive_path(std::string_view folder, std::string_view path) {
  std::string all;
  for (std::string_view rest : {folder, path}) {
    while (!rest.empty()) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      const std::string_view segment = rest.substr(0, slash);
      rest.remove_prefix(std::min(slash + 1, rest.size()));
      if (segment.empty() || segment == ".") continue;
      if (segment != "..") {
        all += all.empty() ? "" : "/";
        all += segment;
        continue;
      }
      if (all.empty()) return std::nullopt;
      all.resize(folder_of(all).size());
    }
  }
  return all;
}

Status follow_link(const TarEntry& link, const FindTarEntry& find, std::vector<TarEntry>& passed) {
  TarEntry at = link;
  std::string folder(folder_of(link.path));
  for (int links = 0; links < kTarLinksMax; ++links) {
    const bool hard = at.link == TarLink::kHard;
    const auto path = target_path(at, folder);
    if (!path) return leads_nowhere(link, "which is outside of the archive");
    auto next = find(*path, hard ? at.offset : UINT64_MAX);
    if (!next) {
      return leads_nowhere(link, link.link == TarLink::kHard
                                     ? "which is no file before it in the archive"
                                     : "which leads to no file in the archive");
    }
    passed.push_back(*next);
    if (next->link == TarLink::kNone) return {};
    if (!hard) folder = folder_of(next->path);
    at = *std::move(next);
  }
  return leads_nowhere(link, "which is a circle of links");
}

void TarEntries::add(const TarMember& member, std::uint64_t offset) {
  const auto path = archive_path(member.directory, member.name);
  if (!path) return;
  places_.push_back({path_hash(*path), offset, member.total_bytes()});
  if (member.link != TarLink::kNone) links_.push_back(make_entry(member, offset));
}

std::optional<TarEntry> TarEntries::find(const std::string& path, std::uint64_t before) const {
  const Place wanted{path_hash(path), before, 0};
  const auto order = [](const Place& a, const Place& b) {
    return std::pair(a.hash, a.offset) < std::pair(b.hash, b.offset);
  };
  const auto after = std::lower_bound(places_.begin(), places_.end(), wanted, order);
  if (after == places_.begin() || std::prev(after)->hash != wanted.hash) return std::nullopt;
  const Place& place = *std::prev(after);
  const auto link = std::lower_bound(
      links_.begin(), links_.end(), place.offset,
      [](const TarEntry& entry, std::uint64_t offset) { return entry.offset < offset; });
  if (link != links_.end() && link->offset == place.offset) return *link;
  return TarEntry{place.offset, place.bytes, TarLink::kNone, {}, {}};
}

void TarEntries::put(std::uint64_t begin, std::uint64_t end, PackedWriter& out) const {
  out.put(between(places_, begin, end));
  const std::span<const TarEntry> links = between(links_, begin, end);
  out.put(std::uint64_t{links.size()});
  for (const TarEntry& link : links) put_entry(link, out);
}

void TarEntries::restore(PackedReader& in) {
  const std::vector<Place> places = in.values<Place>();
  places_.insert(places_.end(), places.begin(), places.end());
  for (std::uint64_t left = in.number(); left > 0 && in.ok(); --left) {
    links_.push_back(take_entry(in));
  }
}

std::vector<TarEntry> TarEntries::passed(const TarEntry& link) {
  if (!std::exchange(sorted_, true)) {
    std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return std::pair(a.hash, a.offset) < std::pair(b.hash, b.offset);
    });
  }
  std::vector<TarEntry> all;
  // A link that leads nowhere makes its record bad when that is cut.
  (void)follow_link(
      link, [this](const std::string& path, std::uint64_t before) { return find(path, before); },
      all);
  return all;
}

}  // namespace echoline::record
