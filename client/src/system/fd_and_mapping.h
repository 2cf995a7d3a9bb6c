// Owners of a file descriptor and of an address range. Both are safe across fork().
#pragma once

#include <cstddef>
#include <cstdint>

#include "system/error.h"
#include "system/fork_guard.h"

namespace echoline::client {

// Owns one file descriptor: the attach socket or the memory of the ring. A forked child closes its
// copy, so that the daemon still notices the parent's death and the memory is still freed.
class GuardedFd final : public ForkSensitive {
 public:
  GuardedFd() { add_to_list(); }
  ~GuardedFd();
  int get() const { return fd_; }
  // Takes ownership of a new descriptor, once. The caller holds a NoFork since before it created
  // the descriptor.
  void take(int fd, const NoFork&) { fd_ = fd; }

 private:
  void abandon_in_child() noexcept override;
  int fd_ = -1;
};

// Owns a range of addresses with parts of memfds mapped into it. In a forked child the range stays
// reserved without access: a touch faults and never reads other memory.
class Mapping final : public ForkSensitive {
 public:
  Mapping() { add_to_list(); }
  ~Mapping();

  Error reserve(std::size_t bytes);
  // Maps [offset, offset + bytes) of the memfd at byte `position` of the range. All three are
  // multiples of the page size.
  Error map(std::size_t position, int fd, std::uint64_t offset, std::size_t bytes, bool writable);

  // Replaces the pages of [begin, begin + bytes) by private memory with the same contents.
  // Pointers into them stay valid, and later changes of the memfd are not visible there.
  Error freeze(const std::byte* begin, std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void abandon_in_child() noexcept override;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace echoline::client
