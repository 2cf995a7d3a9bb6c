// Limits for one call to a memcached server: its duration, and the memory that it makes the daemon
// allocate.
#pragma once

#include <libmemcached/memcached.h>

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace echoline::cache {

// Makes allocations fail that are larger than any item of the cache: a faulty server can announce a
// value of any length.
void limit_allocations(memcached_st* handle);

// Shuts down the handle's connection, if it has one, so that a blocked read returns. Any thread.
void shut_down_connection(const memcached_st* handle);

// The current call of a client. libmemcached's timeouts apply to single waits: a server that sends
// one byte now and then, or never stops sending, could block a call without end. Any thread may
// call end_overdue.
class FleetCall {
 public:
  void begin(const memcached_st* handle, std::uint64_t deadline_ns);
  void end();
  void end_overdue(std::uint64_t now_ns);

 private:
  Mutex mutex_;  // while it is held, the call does not end and the handle stays valid
  const memcached_st* handle_ ECHOLINE_GUARDED_BY(mutex_) = nullptr;
  std::uint64_t deadline_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace echoline::cache
