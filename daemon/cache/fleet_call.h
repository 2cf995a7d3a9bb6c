// How long a memcached server may take for one call, and how much it may make the daemon allocate.
#pragma once

#include <libmemcached/memcached.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace echoline::cache {

// Refuses allocations that no item of ours needs: a server may announce a value of any length.
void limit_allocations(memcached_st* handle);

// Shuts the handle's connection, if it has one, so that whoever reads from it comes back. Any
// thread.
void cut_connection(const memcached_st* handle);

// One call at a time of a lane. libmemcached's time-outs are those of single waits: a server that
// sends a byte now and then, or never stops sending, would keep a call for ever. Any thread may
// `cut_overdue`.
class FleetCall {
 public:
  void begin(const memcached_st* handle, std::uint64_t deadline_ns);
  void end();
  void cut_overdue(std::uint64_t now_ns);

 private:
  std::mutex mutex_;  // the handle lives and its call goes on while it is held
  const memcached_st* handle_ = nullptr;
  std::uint64_t deadline_ns_ = 0;
};

}  // namespace echoline::cache
