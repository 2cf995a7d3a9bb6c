// Reports the progress of a training run and its results.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>

#include "mlp.h"
#include "options.h"

namespace example {

// The counts of one run. Time starts at Options::clock_from or at construction. One thread.
class Progress {
 public:
  explicit Progress(const Options& options);

  void count_batch(std::uint64_t images, std::uint64_t fresh, double waited_seconds);

  // Records a score on the test set: one line in the CSV file, one progress line on stderr (on a
  // terminal the line is overwritten). Returns whether the run has ended.
  bool record_score(const Score& score);

  // The summary on stdout: a sentence, one line of JSON, or the rate alone.
  void finish() const;

  // Whether the target was reached, or enough batches were counted to know the rate.
  bool ended() const { return ended_; }

 private:
  double seconds() const;
  void show() const;

  Options options_;
  std::chrono::duration<double> start_;
  double attached_seconds_ = 0;  // when the training loop was ready to ask for its first batch
  double first_batch_seconds_ = 0;
  double last_seconds_ = 0;
  double waited_seconds_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t images_ = 0;
  std::uint64_t fresh_ = 0;
  Score score_;
  int scores_ = 0;  // recorded so far
  bool ended_ = false;
  bool on_terminal_;
  std::ofstream csv_;
};

}  // namespace example
