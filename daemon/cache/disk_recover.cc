// What a start finds on the disk: what a crash left half done is cut off, what is not to be kept
// any more is given back.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "cache/disk_cache.h"
#include "cache/disk_file.h"

namespace echoline::cache {
namespace {

constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks
constexpr std::uint64_t kPageBytes = 4096;  // least that a file system gives back

}  // namespace

void DiskCache::recover() {
  const FileLock lock(space_.lock_fd(), kLockTimeoutNs);
  if (!lock.held() || !log_.refresh()) return;  // the next flush tries again
  if (space_.alone()) reclaim();
  warn_of_little_room();
}

// Nobody else has the files open: the count of bytes is taken from the disk, and what is no longer
// wanted, or more than a lowered cap holds, is given back where room may become short.
void DiskCache::reclaim() {
  const std::uint64_t most =
      space_.used_by_others() + log_.log_bytes() + log_.live_bytes() + options_.wanted_bytes;
  if (most > options_.cap_bytes && log_.count() > 0 && options_.is_wanted) {
    const auto kept = affordable();
    std::vector<DiskValue> dropped;
    const auto keep = [&kept](const Place& place) { return kept.contains(place); };
    if (log_.rewrite(keep, dropped)) punch(std::move(dropped));
  }
  if (::ftruncate(data_.get(), static_cast<off_t>(log_.data_end())) != 0) return;
  struct stat about {};
  if (::fstat(data_.get(), &about) != 0) return;
  const std::uint64_t on_disk = static_cast<std::uint64_t>(about.st_blocks) * kBlockBytes;
  log_.set_used_bytes(log_.log_bytes() +
                      std::min(log_.data_end(), std::max(on_disk, log_.live_bytes())));
}

// Of the values that are wanted, as many as the cap holds, from the front of the file on. What
// stands between them is given back in whole pages only, so a page counts once one of its bytes is
// kept.
std::unordered_set<Place, PlaceHash> DiskCache::affordable() const {
  std::vector<std::pair<std::uint64_t, Place>> order;  // by offset
  for (const auto& [place, value] : log_.values()) {
    if (options_.is_wanted(place)) order.emplace_back(value.offset, place);
  }
  std::sort(order.begin(), order.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  std::unordered_set<Place, PlaceHash> kept;
  std::uint64_t bytes = kHeaderBytes;
  std::uint64_t pages_end = 0;
  for (const auto& [offset, place] : order) {
    const std::uint64_t begin = std::max(pages_end, offset / kPageBytes * kPageBytes);
    const std::uint64_t value_end = offset + log_.find(place)->bytes;
    pages_end = std::max(begin, (value_end + kPageBytes - 1) / kPageBytes * kPageBytes);
    bytes += kEntryBytes + pages_end - begin;
    const std::uint64_t behind_value = pages_end - value_end;  // cut off, if this is the last
    if (bytes - behind_value > options_.cap_bytes) break;
    kept.insert(place);
  }
  return kept;
}

void DiskCache::warn_of_little_room() const {
  std::error_code error;
  const std::filesystem::space_info room = std::filesystem::space(options_.path, error);
  if (error) return;
  const std::uint64_t room_bytes = room.available + space_.used_by_others() + log_.used_bytes();
  if (room_bytes >= options_.cap_bytes) return;
  log_warning("cache",
              "{}: cache.disk.size is {} bytes, and its file system has room for {}: what comes "
              "when it is full is not kept; lower the size or make room",
              options_.path, options_.cap_bytes, room_bytes);
}

}  // namespace echoline::cache
