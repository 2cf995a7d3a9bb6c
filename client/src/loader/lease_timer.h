// Limits the wait for a batch that another thread of the trainer holds.
#pragma once

#include <cstdint>

#include "loader/descriptor_window.h"
#include "system/error.h"

namespace echoline::client {

// One thread at a time (the loader's lock).
class LeaseTimer {
 public:
  // Call it after each attempt that found no batch. TIMEOUT: wait on. LEASE_HELD: batches that
  // other threads hold have kept the daemon from publishing for 10 s.
  Error check(const DescriptorWindow& window);

 private:
  std::uint64_t blocked_since_ns_ = 0;  // CLOCK_MONOTONIC; 0: not blocked
};

}  // namespace echoline::client
