#include "cuda/wait_meter.h"

#include <algorithm>

namespace echoline::client::cuda {
namespace {

// 0 if the driver cannot say.
std::uint64_t elapsed_ns(const DriverTable& driver, const Event& begin, const Event& end) {
  float milliseconds = 0;
  if (driver.event_elapsed(&milliseconds, begin.get(), end.get()) != kSuccess) return 0;
  // Not above 0 where the events are on two streams and passed in the other order.
  return milliseconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6) : 0;
}

}  // namespace

Error WaitMeter::make(const std::shared_ptr<const Device>& device) {
  pairs_.resize(kPairs);
  for (Pair& pair : pairs_) {
    if (Error e = make_event(device, pair.before); !e.ok()) return e;
    if (Error e = make_event(device, pair.after); !e.ok()) return e;
  }
  return make_event(device, first_);
}

// If the span's first event cannot be recorded, the next use tries again.
Code WaitMeter::begin(const DriverTable& driver, StreamHandle stream) {
  Code code = kSuccess;
  if (!began_) code = driver.event_record(first_.get(), stream);
  began_ = code == kSuccess;
  if (measured_ - collected_ == kPairs) collect(driver);
  measuring_ = began_ && measured_ - collected_ < kPairs;
  if (measuring_) code = driver.event_record(pair(measured_).before.get(), stream);
  return code;
}

void WaitMeter::end(const DriverTable& driver, StreamHandle stream) {
  if (!measuring_) return;
  measuring_ = false;
  // After an error the pair is used again.
  if (driver.event_record(pair(measured_).after.get(), stream) == kSuccess) ++measured_;
}

// In order: the trainer may use several streams, and a pair whose stream is behind holds up the
// rest.
void WaitMeter::collect(const DriverTable& driver) {
  for (; collected_ != measured_; ++collected_) {
    const Pair& oldest = pair(collected_);
    if (driver.event_query(oldest.after.get()) != kSuccess) return;
    wait_ns_ += elapsed_ns(driver, oldest.before, oldest.after);
    // The pairs may be on several streams, so a later pair may have ended earlier.
    span_ns_ = std::max(span_ns_, elapsed_ns(driver, first_, oldest.after));
  }
}

}  // namespace echoline::client::cuda
