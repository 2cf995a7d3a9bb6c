// How long the trainer's streams stand still for their batches, as the GPU sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "cuda/device.h"

namespace echoline::client::cuda {

// One pair of events a use: before and after the stream's wait. Under the loader's lock.
class WaitMeter {
 public:
  static constexpr std::size_t kPairs = 64;  // uses whose end the GPU has not reached

  Error make(const std::shared_ptr<const Device>& device);
  // Around what makes the stream wait. Where every pair is on its way, that use is not measured.
  void begin(const DriverTable& driver, StreamHandle stream);
  void end(const DriverTable& driver, StreamHandle stream);
  // Adds up what the GPU has passed; asks, never waits.
  void collect(const DriverTable& driver);

  std::uint64_t wait_ns() const { return wait_ns_; }
  std::uint64_t span_ns() const { return span_ns_; }

 private:
  struct Pair {
    Event before;
    Event after;
  };
  std::vector<Pair> pairs_;
  std::deque<std::size_t> free_;
  std::deque<std::size_t> on_the_way_;
  bool measuring_ = false;  // between begin and end
  bool began_ = false;
  Event first_;  // the span's beginning
  std::uint64_t wait_ns_ = 0;
  std::uint64_t span_ns_ = 0;
};

}  // namespace echoline::client::cuda
