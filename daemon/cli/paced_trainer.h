// A trainer that takes batches and does nothing with them.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"

namespace echoline::cli {

// Reads on a thread of its own, epoch after epoch, until it is destroyed.
class PacedTrainer {
 public:
  // `rows_per_second`: how fast it is when batches are there; 0: as fast as they come.
  PacedTrainer(const std::string& runtime_dir, std::string stream, double rows_per_second);
  ~PacedTrainer();
  PacedTrainer(const PacedTrainer&) = delete;
  PacedTrainer& operator=(const PacedTrainer&) = delete;

  // The error that ended it.
  Status status() const ECHOLINE_EXCLUDES(mutex_);

 private:
  void run(const std::string& runtime_dir) ECHOLINE_EXCLUDES(mutex_);
  void read(const std::string& runtime_dir);
  void work_for(double seconds) const;

  const std::string stream_;
  const double rows_per_second_;
  std::atomic<bool> stopping_ = false;
  mutable Mutex mutex_;
  Status status_ ECHOLINE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace echoline::cli
