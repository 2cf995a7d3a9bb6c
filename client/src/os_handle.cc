#include "os_handle.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace echoline::client {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() { return std::exchange(fd_, -1); }

void Fd::reset() {
  if (fd_ >= 0) close(release());
}

GuardedSocket::~GuardedSocket() {
  if (fd_ >= 0) close(fd_);
}

void GuardedSocket::abandon_in_child() noexcept {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Error Mapping::reserve(std::size_t bytes) {
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return errno_error(errno, "can't reserve addresses for the ring");
  data_ = static_cast<std::byte*>(range);
  bytes_ = bytes;
  return {};
}

Error Mapping::map(std::size_t place, int fd, std::uint64_t offset, std::size_t bytes,
                   bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* range = mmap(data_ + place, bytes, protection, MAP_SHARED | MAP_FIXED, fd,
                     static_cast<off_t>(offset));
  if (range == MAP_FAILED) return errno_error(errno, "can't map the ring's memory");
  return {};
}

void Mapping::abandon_in_child() noexcept {
  if (data_ == nullptr) return;
  mmap(data_, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace echoline::client
