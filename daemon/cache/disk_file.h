// Whole reads and writes at a place of a file, and locks that end with their owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::cache {

// Opens for reading and writing, and makes the file if it is not there.
Result<UniqueFd> open_file(const std::string& path);

// All of `bytes` at `offset`; false with errno set otherwise (0: the file ends before).
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

// An exclusive flock while it lives, if it could be had in time: a stopped process may hold it for
// ever. The kernel gives it back when its process dies, in whatever way.
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
