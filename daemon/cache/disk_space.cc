#include "cache/disk_space.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/log.h"
#include "cache/disk_format.h"

namespace echoline::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetPrefix = "set-";
constexpr const char* kUsers = "users";
// Longer than a commit: at the start, it is better to wait than to run without a cache.
constexpr std::uint64_t kOpenTimeoutNs = 5'000'000'000;

struct OtherSet {
  fs::path folder;
  std::uint64_t bytes = 0;
  timespec last_use{};
};

std::uint64_t used_bytes(const fs::path& folder) {
  // Without the other set's lock: the header is small, and its check tells a torn one.
  DiskHeader header;
  const UniqueFd log(::open((folder / "log").c_str(), O_RDONLY | O_CLOEXEC));
  // A set with a bad log counts as empty; its owner starts it again.
  if (!log || !read_at(log.get(), 0, bytes_of(header)) || !valid(header)) return 0;
  return header.used_bytes;
}

std::vector<OtherSet> other_sets(const std::string& path, const std::string& own) {
  std::vector<OtherSet> sets;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kSetPrefix) || entry.path() == own) continue;
    // Only folders with our file count: a user may name a folder as path that has an own "set-1".
    struct stat about {};
    if (::lstat((entry.path() / kUsers).c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    sets.push_back({entry.path(), used_bytes(entry.path()), about.st_mtim});
  }
  return sets;
}

// A folder that can't be checked counts as in use.
bool in_use(const fs::path& folder) {
  const UniqueFd users(::open((folder / kUsers).c_str(), O_RDWR | O_CLOEXEC));
  return !users || ::flock(users.get(), LOCK_EX | LOCK_NB) != 0;
}

// Removes only the cache's own files, never a tree: the folder may contain files of the user. The
// file that identifies the folder goes last, so that the next call continues an interrupted
// removal.
bool remove_set(const fs::path& folder) {
  for (const char* name : {"data", "log", "log.new", kUsers}) {
    if (::unlink((folder / name).c_str()) != 0 && errno != ENOENT) return false;
  }
  ::rmdir(folder.c_str());
  return true;
}

}  // namespace

Result<DiskSpace> DiskSpace::open(const std::string& path, const std::string& set,
                                  std::uint64_t cap_bytes) {
  DiskSpace space;
  space.path_ = path;
  space.folder_ = fs::path(path) / (kSetPrefix + set);
  space.cap_bytes_ = cap_bytes;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return errno_status(error.value(), "making the folder " + path);
  ECHOLINE_ASSIGN(space.lock_, open_file(fs::path(path) / "lock"));
  const FileLock lock(space.lock_fd(), kOpenTimeoutNs);
  if (!lock.held()) {
    return Status(Code::kUnavailable, "another process keeps " + path + "/lock locked");
  }
  fs::create_directories(space.folder_, error);
  if (error) return errno_status(error.value(), "making the folder " + space.folder_);
  ECHOLINE_ASSIGN(space.users_, open_file(fs::path(space.folder_) / kUsers));
  ::flock(space.users_.get(),
          LOCK_SH | LOCK_NB);  // can't fail: others lock it exclusively only with the path locked
  ::futimens(space.users_.get(), nullptr);  // marks the last use
  return space;
}

bool DiskSpace::alone() const {
  // Changing a lock to exclusive gives up the shared one first, so it is taken again. Nobody else
  // can get an exclusive one in between, because that needs the path's lock.
  const bool alone = ::flock(users_.get(), LOCK_EX | LOCK_NB) == 0;
  ::flock(users_.get(), LOCK_SH | LOCK_NB);
  return alone;
}

std::uint64_t DiskSpace::used_by_others() const {
  std::uint64_t bytes = 0;
  for (const OtherSet& set : other_sets(path_, folder_)) bytes += set.bytes;
  return bytes;
}

void DiskSpace::make_room(std::uint64_t bytes) const {
  std::vector<OtherSet> sets = other_sets(path_, folder_);
  std::uint64_t used = 0;
  for (const OtherSet& set : sets) used += set.bytes;
  // By the time of the last opening (futimens in open).
  std::sort(sets.begin(), sets.end(), [](const OtherSet& one, const OtherSet& other) {
    return std::pair(one.last_use.tv_sec, one.last_use.tv_nsec) <
           std::pair(other.last_use.tv_sec, other.last_use.tv_nsec);
  });
  for (const OtherSet& set : sets) {
    // Stops as soon as there is room: other sets stay for their next use.
    if (used + bytes <= cap_bytes_) return;
    if (in_use(set.folder)) continue;
    if (!remove_set(set.folder)) continue;
    used -= set.bytes;
    log_info("cache", "{}: removed, {} bytes of a data set that no stream uses",
             set.folder.string(), set.bytes);
  }
}

}  // namespace echoline::cache
