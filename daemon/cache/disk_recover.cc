#include "cache/disk_recover.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cache/disk_file.h"
#include "cache/disk_holes.h"

namespace echoline::cache {
namespace {

using Locations = std::unordered_set<Hash128, Hash128Hasher>;

constexpr std::uint64_t kBlockBytes = 512;  // the unit of st_blocks
constexpr std::uint64_t kPageBytes = 4096;  // the smallest space that a file system frees

// The locations of wanted values, as many as the cap has room for, in the order of the data file.
// The space between them is freed in whole pages only, so a page counts fully if one of its bytes
// is kept.
Locations affordable(const DiskOptions& options, const DiskLog& log) {
  std::vector<std::pair<std::uint64_t, Hash128>> order;  // by offset
  for (const auto& [location, value] : log.values()) {
    if (options.is_wanted(location)) order.emplace_back(value.offset, location);
  }
  std::sort(order.begin(), order.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  Locations kept;
  std::uint64_t bytes = kHeaderBytes;
  std::uint64_t pages_end = 0;
  for (const auto& [offset, location] : order) {
    // The page that a kept value before this one ends in is counted already.
    const std::uint64_t begin = std::max(pages_end, offset / kPageBytes * kPageBytes);
    const std::uint64_t value_end = offset + log.find(location)->bytes;
    pages_end = std::max(begin, (value_end + kPageBytes - 1) / kPageBytes * kPageBytes);
    bytes += kEntryBytes + pages_end - begin;
    const std::uint64_t behind_value = pages_end - value_end;  // truncated if this is the last one
    if (bytes - behind_value > options.cap_bytes) break;
    kept.insert(location);
  }
  return kept;
}

// Only if no other daemon has the files open. Takes the count of used bytes from the disk. Frees
// values that are no longer wanted, or that exceed a lowered cap, if the room may become too small.
void reclaim(const DiskOptions& options, const DiskSpace& space, DiskLog& log, int data_fd) {
  // The most that this daemon could want to hold.
  const std::uint64_t most =
      space.used_by_others() + log.log_bytes() + log.live_bytes() + options.wanted_bytes;
  if (most > options.cap_bytes && log.count() > 0 && options.is_wanted) {
    const Locations kept = affordable(options, log);
    std::vector<DiskValue> dropped;
    const auto keep = [&kept](const Hash128& location) { return kept.contains(location); };
    // The log first: a crash after it leaves space that is not freed, but no entry without a value.
    if (log.rewrite(keep, dropped)) punch_holes(data_fd, std::move(dropped), log);
  }
  // Removes values behind the last entry: a crash came between data and log.
  if (::ftruncate(data_fd, static_cast<off_t>(log.data_end())) != 0) return;
  struct stat about {};
  if (::fstat(data_fd, &about) != 0) return;
  // What the file takes on the disk, without its holes; that can be more than the live values.
  const std::uint64_t on_disk = static_cast<std::uint64_t>(about.st_blocks) * kBlockBytes;
  log.set_used_bytes(log.log_bytes() +
                     std::min(log.data_end(), std::max(on_disk, log.live_bytes())));
}

void warn_of_little_room(const DiskOptions& options, const DiskSpace& space, const DiskLog& log) {
  std::error_code error;
  const std::filesystem::space_info room = std::filesystem::space(options.path, error);
  if (error) return;
  const std::uint64_t room_bytes = room.available + space.used_by_others() + log.used_bytes();
  if (room_bytes >= options.cap_bytes) return;
  log_warning("cache",
              "{}: cache.disk.size is {} bytes, and its file system has room for {}: values "
              "that come when it is full are not kept; lower the size or make room",
              options.path, options.cap_bytes, room_bytes);
}

}  // namespace

void recover_disk(const DiskOptions& options, const DiskSpace& space, DiskLog& log, int data_fd) {
  const FileLock lock(space.lock_fd(), kDiskLockTimeoutNs);
  if (!lock.held() || !log.refresh()) return;
  // Other daemons would read positions in a file that changes.
  if (space.alone()) reclaim(options, space, log, data_fd);
  warn_of_little_room(options, space, log);
}

}  // namespace echoline::cache
