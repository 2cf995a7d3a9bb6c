// Owners of a descriptor and of an address range, safe across fork.
#pragma once

#include <cstddef>
#include <cstdint>

#include "error.h"
#include "fork_guard.h"

namespace echoline::client {

// A descriptor: the door's socket, the ring's memory. A forked child closes its copy, so that the
// parent's death is still seen and its memory goes.
class GuardedFd final : public ForkSensitive {
 public:
  GuardedFd() { enlist(); }
  ~GuardedFd();
  int get() const { return fd_; }
  // Takes a new descriptor, once; the caller holds a NoFork from before it was made.
  void take(int fd, const NoFork&) { fd_ = fd; }

 private:
  void abandon_in_child() noexcept override;
  int fd_ = -1;
};

// A range of addresses with parts of memfds mapped into it. In a forked
// child the range stays reserved without access: a touch faults, it never reads other memory.
class Mapping final : public ForkSensitive {
 public:
  Mapping() { enlist(); }
  ~Mapping();

  Error reserve(std::size_t bytes);
  // Maps [offset, offset + bytes) of the memfd at `place` of the range; multiples of a page.
  Error map(std::size_t place, int fd, std::uint64_t offset, std::size_t bytes, bool writable);

  // Puts private memory with the same bytes in the place of the pages of [begin, begin + bytes):
  // who looks at them sees no change, whatever becomes of the memfd.
  Error freeze(const std::byte* begin, std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void abandon_in_child() noexcept override;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace echoline::client
