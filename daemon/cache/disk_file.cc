#include "cache/disk_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.h"

namespace echoline::cache {

Result<UniqueFd> open_file(const std::string& path) {
  // 0660: daemons of one group can share a cache.
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0660));
  if (!fd) return errno_status(errno, "opening " + path);
  return fd;
}

bool read_at(int fd, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;  // end of the file: not an error of the system
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

bool write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  // A short write continues with the rest.
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

FileLock::FileLock(int fd, std::uint64_t timeout_ns) : fd_(fd) {
  const std::uint64_t deadline_ns = monotonic_ns() + timeout_ns;
  // flock has no timeout, and an interrupting signal could hit another thread. So this polls.
  // At least one try, also with a timeout of 0.
  while (!(held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0) && monotonic_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

FileLock::~FileLock() {
  if (held_) ::flock(fd_, LOCK_UN);
}

}  // namespace echoline::cache
