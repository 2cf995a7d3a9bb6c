// The order of device echo: which use of which batch each step gives. Integers only.
#pragma once

#include <cstdint>

namespace echoline::client::cuda {

// Each batch is given `factor` times from device memory. Steps count from 0 at an epoch's first
// batch. Step t gives use u = t mod factor of batch t / factor - u * lag. So fresh batches come
// evenly, one in `factor` steps, and between two uses of a batch the trainer gets lag * factor
// other uses. Steps whose batch is before the first or after the last of the epoch are left out; so
// each batch is given exactly `factor` times.
class DeviceEcho {
 public:
  DeviceEcho(std::uint32_t factor, std::uint32_t window)
      : factor_(factor), lag_(factor > 1 ? (window - 1) / (factor - 1) : 0) {}

  struct BatchUse {
    std::int64_t batch;  // number in the epoch; below 0: the step is left out
    std::uint32_t use;
  };
  BatchUse at(std::uint64_t step) const {
    const auto use = static_cast<std::uint32_t>(step % factor_);
    return {static_cast<std::int64_t>(step / factor_) - static_cast<std::int64_t>(use * lag_), use};
  }
  // The step of a batch's last use.
  std::uint64_t last_step(std::uint64_t batch) const {
    return (batch + (factor_ - 1) * lag_) * factor_ + factor_ - 1;
  }
  // The oldest batch of which `step` or a later one gives a use.
  std::uint64_t oldest_needed(std::uint64_t step) const {
    const std::uint64_t first = last_step(0);
    return step <= first ? 0 : (step - first + factor_ - 1) / factor_;
  }

  std::uint64_t factor() const { return factor_; }
  // The most batches of one epoch that still have uses to give.
  std::uint64_t kept_max() const { return (factor_ - 1) * lag_ + 1; }

 private:
  std::uint64_t factor_;
  std::uint64_t lag_;
};

}  // namespace echoline::client::cuda
