#include "user_code/area.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace echoline::user_code {
namespace {

constexpr std::uint64_t kReserveBytes = 1 << 20;

Result<UniqueFd> make_memfd(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return errno_status(errno, "making shared memory for users' code (memfd_create)");
  return UniqueFd(fd);
}

Status seal(int fd, int seals) {
  if (::fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SEAL) == 0) return {};
  return errno_status(errno, "sealing shared memory for users' code");
}

}  // namespace

Result<Area> Area::create(const char* name, std::uint64_t bytes, Writer writer) {
  ECHOLINE_ASSIGN(UniqueFd fd, make_memfd(name));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return errno_status(errno, fmt::format("shared memory of {} bytes for users' code", bytes));
  const bool own = writer == Writer::kDaemon;
  void* data =
      ::mmap(nullptr, bytes, own ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return errno_status(errno, "mapping shared memory for users' code");
  Area area(std::move(fd), static_cast<std::byte*>(data), bytes);
  // After the daemon's mapping, which stays writable.
  ECHOLINE_TRY(seal(area.fd(), F_SEAL_SHRINK | F_SEAL_GROW | (own ? F_SEAL_FUTURE_WRITE : 0)));
  return area;
}

Area::Area(Area&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      reserved_(other.reserved_) {}

Area::~Area() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<std::span<std::byte>> Area::reserve(std::uint64_t bytes) {
  if (bytes > reserved_) {
    const std::uint64_t wanted = std::min(size_, std::max(bytes, kReserveBytes));
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(wanted));
    // The host has no memory, which says nothing about the record: the stream ends.
    if (error != 0)
      return Status(Code::kFailedPrecondition,
                    errno_status(error, "reserving shared memory for users' code").message());
    reserved_ = wanted;
  }
  return std::span<std::byte>{data_, bytes};
}

Result<UniqueFd> text_in_memory(const char* name, std::string_view text) {
  ECHOLINE_ASSIGN(UniqueFd fd, make_memfd(name));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "writing shared memory for users' code");
    done += static_cast<std::size_t>(count);
  }
  ECHOLINE_TRY(seal(fd.get(), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
  // Who gets the descriptor reads from its position.
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return errno_status(errno, "lseek");
  return fd;
}

}  // namespace echoline::user_code
