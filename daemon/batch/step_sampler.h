// Which rows of a worker are timed in full.
#pragma once

#include <cstdint>
#include <utility>

#include "base/account.h"
#include "base/step_times.h"

namespace echoline::batch {

// Chooses the rows of one worker that are timed: one in 64, and never more than one in 200 us of
// work, so that timing costs less than 1 %. The distance varies, so that it agrees with no batch
// size. One thread.
class StepSampler {
 public:
  static constexpr std::uint32_t kMeanRows = 64;
  static constexpr std::uint64_t kLeastNs = 200'000;

  // Before each row: whether it is timed.
  bool begins_timed() const { return kKeepsAccount && rows_ >= next_rows_ && ns_ >= kLeastNs; }
  // After each row, or after `rows` that were made together.
  void note(std::uint64_t ns, std::uint64_t rows = 1) {
    rows_ += rows;
    ns_ += ns;
  }
  // After a timed row: how many rows it represents, itself among them.
  std::uint64_t take_rows() {
    draw_ = draw_ * 1664525 + 1013904223;  // of Numerical Recipes; its high bits are good
    next_rows_ = kMeanRows / 2 + (draw_ >> 16) % kMeanRows;
    ns_ = 0;
    return std::exchange(rows_, 0);
  }

  StepTimes times;

 private:
  std::uint64_t rows_ = 0;  // since the last timed one
  std::uint64_t ns_ = 0;
  std::uint64_t next_rows_ = 1;  // the first rows soon
  std::uint32_t draw_ = 1;
};

}  // namespace echoline::batch
