// libmemcached reports the local port of a connection, but not its file descriptor. So this file
// searches the descriptors of the process for it. That happens only for servers that misbehave.
#include "cache/fleet_call.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace echoline::cache {
namespace {

// Enough for the largest part with its header and key, as libmemcached rounds it up.
constexpr std::size_t kAllocationBytesMax = 4 << 20;

using NameFunction = int (*)(int, sockaddr*, socklen_t*);

// IPv4 and IPv6 addresses have the port at the same offset.
in_port_t port_of(int fd, NameFunction name) {
  sockaddr_in6 address{};
  // `name` is getsockname or getpeername.
  socklen_t size = sizeof address;
  if (name(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  const bool internet = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
  return internet ? ntohs(address.sin6_port) : in_port_t{0};
}

void* allocate(const memcached_st*, std::size_t size, void*) {
  return size > kAllocationBytesMax ? nullptr : std::malloc(size);
}
void release(const memcached_st*, void* memory, void*) { std::free(memory); }
void* reallocate(const memcached_st*, void* memory, std::size_t size, void*) {
  return size > kAllocationBytesMax ? nullptr : std::realloc(memory, size);
}
void* allocate_zeroed(const memcached_st*, std::size_t count, std::size_t size, void*) {
  const bool too_many = size > 0 && count > kAllocationBytesMax / size;
  return too_many ? nullptr : std::calloc(count, size);
}

}  // namespace

void limit_allocations(memcached_st* handle) {
  memcached_set_memory_allocators(handle, allocate, release, reallocate, allocate_zeroed, nullptr);
}

void shut_down_connection(const memcached_st* handle) {
  const memcached_instance_st* server = memcached_server_instance_by_position(handle, 0);
  // No connection, or none yet.
  const in_port_t own = server == nullptr ? in_port_t{0} : memcached_server_srcport(server);
  if (own == 0) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    // Entries that are no numbers leave -1, which no socket has.
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (port_of(fd, ::getsockname) != own) continue;
    if (port_of(fd, ::getpeername) == memcached_server_port(server)) ::shutdown(fd, SHUT_RDWR);
  }
}

void FleetCall::begin(const memcached_st* handle, std::uint64_t deadline_ns) {
  const MutexLock lock(mutex_);
  handle_ = handle;
  deadline_ns_ = deadline_ns;
}

void FleetCall::end() {
  const MutexLock lock(mutex_);
  handle_ = nullptr;
}

void FleetCall::end_overdue(std::uint64_t now_ns) {
  // With the lock held, so that the call cannot end and free the connection meanwhile.
  const MutexLock lock(mutex_);
  if (handle_ != nullptr && now_ns > deadline_ns_) shut_down_connection(handle_);
}

}  // namespace echoline::cache
