#include "cuda/wait_meter.h"

#include <algorithm>

namespace echoline::client::cuda {
namespace {

// Nanoseconds of the driver's float milliseconds; 0 where it can't tell.
std::uint64_t elapsed_ns(const DriverTable& driver, const Event& begin, const Event& end) {
  float milliseconds = 0;
  if (driver.event_elapsed(&milliseconds, begin.get(), end.get()) != kSuccess) return 0;
  return milliseconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6) : 0;
}

}  // namespace

Error WaitMeter::make(const std::shared_ptr<const Device>& device) {
  pairs_.resize(kPairs);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (Error e = make_event(device, pairs_[i].before); !e.ok()) return e;
    if (Error e = make_event(device, pairs_[i].after); !e.ok()) return e;
    free_.push_back(i);
  }
  return make_event(device, first_);
}

void WaitMeter::begin(const DriverTable& driver, StreamHandle stream) {
  if (!began_) began_ = driver.event_record(first_.get(), stream) == kSuccess;
  measuring_ =
      !free_.empty() && driver.event_record(pairs_[free_.front()].before.get(), stream) == kSuccess;
}

void WaitMeter::end(const DriverTable& driver, StreamHandle stream) {
  if (!measuring_) return;
  measuring_ = false;
  if (driver.event_record(pairs_[free_.front()].after.get(), stream) != kSuccess) return;
  on_the_way_.push_back(free_.front());
  free_.pop_front();
}

void WaitMeter::collect(const DriverTable& driver) {
  while (!on_the_way_.empty()) {
    const Pair& pair = pairs_[on_the_way_.front()];
    if (driver.event_query(pair.after.get()) != kSuccess) return;
    wait_ns_ += elapsed_ns(driver, pair.before, pair.after);
    span_ns_ = std::max(span_ns_, elapsed_ns(driver, first_, pair.after));
    free_.push_back(on_the_way_.front());
    on_the_way_.pop_front();
  }
}

}  // namespace echoline::client::cuda
