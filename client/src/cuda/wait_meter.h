// Measures how long the trainer's streams wait for their batches, by the GPU's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"

namespace echoline::client::cuda {

// One pair of events for each use: before and after the stream's wait. Guarded by DeviceMeter's
// lock.
class WaitMeter {
 public:
  static constexpr std::size_t kPairs = 64;  // the most uses that the GPU has not passed yet

  Error make(const std::shared_ptr<const Device>& device);
  // Before and after the commands that make the stream wait. If all pairs are in use, the use is
  // not measured. begin() returns the driver's code for an event on the stream: an error if the
  // stream is of another device.
  Code begin(const DriverTable& driver, StreamHandle stream);
  void end(const DriverTable& driver, StreamHandle stream);
  // Adds the pairs that the GPU has passed. Asks, never waits.
  void collect(const DriverTable& driver);

  std::uint64_t wait_ns() const { return wait_ns_; }
  std::uint64_t span_ns() const { return span_ns_; }

 private:
  struct Pair {
    Event before;
    Event after;
  };
  Pair& pair(std::uint64_t number) { return pairs_[number % kPairs]; }

  std::vector<Pair> pairs_;      // used in turn
  std::uint64_t measured_ = 0;   // uses with a pair of events
  std::uint64_t collected_ = 0;  // uses that were added
  bool measuring_ = false;       // between begin and end
  bool began_ = false;           // first_ was recorded
  Event first_;                  // where the span begins
  std::uint64_t wait_ns_ = 0;
  std::uint64_t span_ns_ = 0;
};

}  // namespace echoline::client::cuda
