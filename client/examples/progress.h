// What a training run shows while it goes on and leaves behind when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>

#include "mlp.h"
#include "options.h"

namespace example {

// Counts of one run. Time runs from Options::clock_from or from construction; one thread.
class Progress {
 public:
  explicit Progress(const Options& options);

  void count_batch(std::uint64_t images, std::uint64_t fresh, double waited_seconds);

  // A look at the test set: one line of the CSV file, one progress line on stderr (rewritten in
  // place on a terminal). True when the run has come to its end.
  bool look(const Score& score);

  // The summary on stdout: a sentence, one line of JSON, or the rate alone.
  void finish() const;

  // The target was reached, or enough was seen to know the rate.
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
  int looks_ = 0;
  bool ended_ = false;
  bool on_terminal_;
  std::ofstream csv_;
};

}  // namespace example
