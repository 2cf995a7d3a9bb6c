// How long the trainer's streams stand still for their batches, as the GPU sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.h"

namespace echoline::client::cuda {

// One pair of events a use: before and after the stream's wait. Under the loader's lock.
class WaitMeter {
 public:
  static constexpr std::size_t kPairs = 64;  // uses whose end the GPU has not reached

  Error make(const std::shared_ptr<const Device>& device);
  // Around what makes the stream wait. Where every pair is on its way, that use is not measured.
  // Whether an event of the device could be put on the stream, else its code: no stream of another
  // device takes one.
  Code begin(const DriverTable& driver, StreamHandle stream);
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
  Pair& pair(std::uint64_t number) { return pairs_[number % kPairs]; }

  std::vector<Pair> pairs_;      // taken in turn
  std::uint64_t measured_ = 0;   // uses
  std::uint64_t collected_ = 0;  // of them
  bool measuring_ = false;       // between begin and end
  bool began_ = false;
  Event first_;  // the span's beginning
  std::uint64_t wait_ns_ = 0;
  std::uint64_t span_ns_ = 0;
};

}  // namespace echoline::client::cuda
