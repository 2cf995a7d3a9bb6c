// Complete reads and writes at an offset of a file, and file locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::cache {

// Opens a file for reading and writing; creates it if it does not exist.
Result<UniqueFd> open_file(const std::string& path);

// Read or write all of `bytes` at `offset`. False on failure, with errno set; errno is 0 if the
// file is too short.
bool read_at(int fd, std::uint64_t offset, std::span<std::byte> bytes);
bool write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes);

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}
template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// How long a daemon waits for the lock file of a disk cache. Another daemon holds it for
// milliseconds, unless it was stopped.
inline constexpr std::uint64_t kDiskLockTimeoutNs = 1'000'000'000;

// Holds an exclusive flock for its lifetime, if it got it within the timeout: a stopped process may
// hold it without end. The kernel releases the lock when the process dies.
class FileLock {
 public:
  FileLock(int fd, std::uint64_t timeout_ns);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return held_; }

 private:
  const int fd_;
  bool held_ = false;
};

}  // namespace echoline::cache
