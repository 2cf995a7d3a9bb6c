#include "system/fd_and_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace echoline::client {

// Destructors close first and leave the list after: a fork in between must not find an open
// descriptor that is no longer in the list.
GuardedFd::~GuardedFd() {
  {
    const NoFork no_fork;
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  remove_from_list();
}

void GuardedFd::abandon_in_child() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Mapping::~Mapping() {
  {
    const NoFork no_fork;
    if (data_ != nullptr) munmap(data_, bytes_);
    data_ = nullptr;
  }
  remove_from_list();
}

Error Mapping::reserve(std::size_t bytes) {
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return errno_error(errno, "can't reserve addresses for the ring");
  data_ = static_cast<std::byte*>(range);
  bytes_ = bytes;
  return {};
}

Error Mapping::map(std::size_t position, int fd, std::uint64_t offset, std::size_t bytes,
                   bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  // MAP_FIXED replaces a part of the own reservation.
  void* range = mmap(data_ + position, bytes, protection, MAP_SHARED | MAP_FIXED, fd,
                     static_cast<off_t>(offset));
  if (range == MAP_FAILED) return errno_error(errno, "can't map the ring's memory");
  return {};
}

Error Mapping::freeze(const std::byte* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // up to 65536 on aarch64
  const std::size_t first = static_cast<std::size_t>(begin - data_) / page * page;
  const std::size_t last = (static_cast<std::size_t>(begin - data_) + bytes + page - 1) / page;
  const std::size_t size = last * page - first;
  if (bytes == 0) return {};
  // Copy first, then move the copy over the range with one mremap: another thread that reads the
  // range sees the same bytes before, during and after.
  void* copy = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (copy == MAP_FAILED) return errno_error(errno, "can't keep a batch that is still held");
  std::memcpy(copy, data_ + first, size);
  if (mprotect(copy, size, PROT_READ) != 0 ||
      mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, data_ + first) == MAP_FAILED) {
    const int number = errno;
    munmap(copy, size);
    return errno_error(number, "can't keep a batch that is still held");
  }
  return {};
}

void Mapping::abandon_in_child() noexcept {
  if (data_ == nullptr) return;
  // If this fails, the child keeps the readable mapping that fork() gave it.
  (void)mmap(data_, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0);
}

}  // namespace echoline::client
