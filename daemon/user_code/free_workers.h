// The workers of a function that are free: processes, or threads of one process.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "user_code/function.h"
#include "user_code/thread_workers.h"
#include "user_code/verdicts.h"
#include "user_code/worker.h"

namespace echoline::user_code {

// Starts workers, lends those that are free, and replaces those that were lost. Any thread; nothing
// may be lent when it is destroyed.
class FreeWorkers {
 public:
  // All must outlive it.
  FreeWorkers(const Function& function, Counters& counters, StepLog& log)
      : function_(function), counters_(counters), log_(log), threads_(function) {}
  ~FreeWorkers();

  // Starts all workers and waits for the first one to load the function. kInvalidArgument if it
  // cannot: the message has the traceback. The same if a data set has no samples.
  Status start() ECHOLINE_EXCLUDES(mutex_);
  // Known after start(): whether workers are threads of one process, the versions of the
  // interpreter and of numpy, and the samples of a data set (0: a function).
  bool has_threads() const { return has_threads_; }
  const std::string& versions() const { return versions_; }
  std::uint64_t length() const { return length_; }

  // A free worker that has loaded the function. Give each one back, or say that it was lost.
  // kFailedPrecondition: workers cannot be started any more. kCancelled: `stopping` became true.
  Result<std::unique_ptr<Worker>> borrow(const std::atomic<bool>* stopping)
      ECHOLINE_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<Worker> worker) ECHOLINE_EXCLUDES(mutex_);
  // It ended, hangs, or does not follow the protocol: the next call needs another process.
  void lost(std::unique_ptr<Worker> worker) ECHOLINE_EXCLUDES(mutex_);
  // One more, in a process of its own, which has loaded the function: `kept`, or a new one where it
  // is null or has ended.
  Result<std::unique_ptr<Worker>> alone(std::unique_ptr<Worker> kept,
                                        const std::atomic<bool>* stopping);
  void end_alone(std::unique_ptr<Worker> worker);

 private:
  Status start_first(std::unique_ptr<Worker>& first);
  Status take_loaded(Worker& first);
  // The worker, or a new one if it is null.
  Result<std::unique_ptr<Worker>> loaded(std::unique_ptr<Worker> worker, bool alone,
                                         const std::atomic<bool>* stopping);
  Result<std::unique_ptr<Worker>> start_worker(bool alone, const std::atomic<bool>* stopping);
  void destroy(std::unique_ptr<Worker> worker);

  const Function& function_;
  Counters& counters_;
  StepLog& log_;
  std::string versions_;
  std::uint64_t length_ = 0;  // as the first process has said; all others have to agree
  ThreadWorkers threads_;
  bool has_threads_ = false;
  Mutex mutex_;  // no other lock is taken under it
  CondVar freed_;
  // Null: the worker has to be started again.
  std::deque<std::unique_ptr<Worker>> free_ ECHOLINE_GUARDED_BY(mutex_);
};

// The outputs that a plugin describes for these inputs and settings, from a process of its own.
// kInvalidArgument if it refuses them.
Result<std::vector<decode::FieldType>> describe(const Function& function);

}  // namespace echoline::user_code
