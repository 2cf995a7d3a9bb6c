// Which batch stands at which step when each is given e times from device memory: integers only.
#pragma once

#include <cstdint>

namespace echoline::client::cuda {

// Steps count from 0 at an epoch's first batch. Step t gives use t mod e of batch t / e - use *
// lag: fresh batches come evenly, one in e steps, and between two uses of a batch stand lag * e
// others. Steps whose batch lies before the first or after the last of the epoch are left out; so
// each batch is given exactly e times. At most (e - 1) * lag + 1 batches are kept at once.
class DeviceEcho {
 public:
  DeviceEcho(std::uint32_t factor, std::uint32_t window)
      : factor_(factor), lag_(factor > 1 ? (window - 1) / (factor - 1) : 0) {}

  struct Place {
    std::int64_t batch;  // below 0: left out
    std::uint32_t use;
  };
  Place at(std::uint64_t step) const {
    const auto use = static_cast<std::uint32_t>(step % factor_);
    return {static_cast<std::int64_t>(step / factor_) - static_cast<std::int64_t>(use * lag_), use};
  }
  // Where a batch's last use stands.
  std::uint64_t last_step(std::uint64_t batch) const {
    return (batch + (factor_ - 1) * lag_) * factor_ + factor_ - 1;
  }
  // The first batch that step, or a later one, gives.
  std::uint64_t oldest(std::uint64_t step) const {
    const std::uint64_t first = last_step(0);
    return step <= first ? 0 : (step - first + factor_ - 1) / factor_;
  }

  std::uint64_t factor() const { return factor_; }
  std::uint64_t kept_max() const { return (factor_ - 1) * lag_ + 1; }

 private:
  std::uint64_t factor_;
  std::uint64_t lag_;
};

}  // namespace echoline::client::cuda
