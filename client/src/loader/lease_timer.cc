#include "loader/lease_timer.h"

#include "echoline/shm/futex.h"

namespace echoline::client {
namespace {

// Longer than a usual step that holds a batch.
constexpr std::uint64_t kOtherLeaseNs = 10'000'000'000;

}  // namespace

Error LeaseTimer::check(const DescriptorWindow& window) {
  Error not_ready = {ECHOLINE_TIMEOUT, "no batch was ready in time"};
  if (!window.blocked_by_other_thread()) {
    blocked_since_ns_ = 0;
    return not_ready;
  }
  // Another thread usually releases its batch soon. If it keeps the batch, this thread must not
  // wait without end.
  const std::uint64_t now = shm::futex_clock_ns();
  if (blocked_since_ns_ == 0) blocked_since_ns_ = now;
  if (now - blocked_since_ns_ < kOtherLeaseNs) return not_ready;
  // The next wait is timed on its own.
  blocked_since_ns_ = 0;
  return window.lease_held();
}

}  // namespace echoline::client
