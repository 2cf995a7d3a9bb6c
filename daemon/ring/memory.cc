#include "ring/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

// Older kernel headers lack the flag.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

namespace echoline::ring {
namespace {

// The available memory is checked again before each step, because other processes allocate, too.
constexpr std::uint64_t kStepBytes = std::uint64_t{64} << 20;
// Up to this size (a cursor), the check would cost more than the memory.
constexpr std::uint64_t kTinyBytes = std::uint64_t{64} << 10;
// Left for others: page tables, sockets, new processes.
constexpr std::uint64_t kSpareBytes = std::uint64_t{16} << 20;

Status exhausted(std::uint64_t needed, std::uint64_t had, const std::string& limit) {
  constexpr double kMib = 1024.0 * 1024.0;
  return Status(
      Code::kResourceExhausted,
      fmt::format(
          "shared memory: need {:.1f} MiB, have {:.1f} MiB (bounded by {}); lower publish.slots, "
          "batch.size or the other streams' memory, or raise the limit",
          static_cast<double>(needed) / kMib, static_cast<double>(had) / kMib, limit));
}

// An error while there is still memory for others: without memory, the kernel kills a process
// instead of returning an error.
Status check_room(std::uint64_t bytes, const KernelFolders& folders) {
  const MemoryBound free = available_memory(folders);
  const std::uint64_t usable = free.bytes - std::min(free.bytes, kSpareBytes);
  if (bytes > usable) return exhausted(bytes, usable, free.limit);
  return {};
}

// posix_fallocate allocates the pages now, so a full memory is an error here and no SIGBUS later.
Status reserve_step(int fd, std::uint64_t offset, std::uint64_t bytes) {
  while (true) {
    const int error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (error == 0) return {};
    if (error == ENOSPC || error == ENOMEM) return exhausted(bytes, 0, "the kernel");
    // A signal interrupted it; nothing or a part is allocated, and the same range can be asked for
    // again.
    if (error != EINTR) return errno_status(error, "reserving shared memory");
  }
}

Result<UniqueFd> make_memfd(const char* name) {
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // The kernel does not know the flag.
  if (fd < 0 && errno == EINVAL)
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);  // before Linux 6.3
  if (fd < 0) return errno_status(errno, "making shared memory (memfd_create)");
  return UniqueFd(fd);
}

}  // namespace

Result<UniqueFd> make_shared_memory(const char* name, std::uint64_t bytes,
                                    const KernelFolders& folders) {
  ECHOLINE_ASSIGN(UniqueFd fd, make_memfd(name));
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return errno_status(errno, fmt::format("shared memory of {} bytes", bytes));
  // In steps, because other processes may take memory while a large ring is reserved.
  for (std::uint64_t done = 0; done < bytes; done += kStepBytes) {
    if (bytes > kTinyBytes) ECHOLINE_TRY(check_room(bytes - done, folders));
    ECHOLINE_TRY(reserve_step(fd.get(), done, std::min(kStepBytes, bytes - done)));
  }
  return fd;
}

Status seal_shared_memory(int fd, Sealing sealing) {
  // F_SEAL_SEAL: a trainer gets the descriptor, and must not add seals that stop the daemon.
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (sealing == Sealing::kWrite) seals |= F_SEAL_FUTURE_WRITE;
  if (fcntl(fd, F_ADD_SEALS, seals) != 0) return errno_status(errno, "sealing shared memory");
  return {};
}

}  // namespace echoline::ring
