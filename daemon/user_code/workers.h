// The worker processes of one step: gives calls to those that are free, and replaces those that
// fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"
#include "user_code/function.h"
#include "user_code/results.h"
#include "user_code/thread_workers.h"
#include "user_code/verdicts.h"
#include "user_code/worker.h"

namespace echoline::user_code {

// What is decided about the first of several samples.
struct Progress {
  std::size_t done = 0;  // samples, the first ones, that have their results
  std::size_t next = 0;  // the first one that may still be tried with others; those between: alone
};

// Any thread may call run() and run_several(); it must not be in use when it is destroyed.
class Workers {
 public:
  // Starts all processes and waits for the first one to load the function. kInvalidArgument if it
  // cannot: the message has the traceback. The same if a data set has no samples.
  static Result<std::unique_ptr<Workers>> start(Function function);
  ~Workers();

  const Function& function() const { return function_; }
  const Counters& counters() const { return counters_; }
  // Of the interpreter and of numpy.
  const std::string& versions() const { return versions_; }
  // The samples of a data set; 0: a function.
  std::uint64_t length() const { return length_; }

  // Calls the function on a sample and fills its results, which may borrow the arguments' bytes.
  // kInvalidArgument or kResourceExhausted: this sample has no result. kFailedPrecondition: workers
  // cannot be started any more. kCancelled: `stopping` became true.
  Status run(const SampleCall& sample, const std::atomic<bool>* stopping);
  // Gives as many of the samples as one exchange may have to a worker, once. Never decides that a
  // sample is bad, which must not depend on the others: a sample without a result is for run().
  Progress run_several(std::span<const SampleCall> samples, const std::atomic<bool>* stopping);

 private:
  explicit Workers(Function function);
  // Both start the first worker and wait until it has loaded the function; further workers are
  // processes that load it meanwhile, or threads of that process.
  Status start_processes() ECHOLINE_EXCLUDES(mutex_);
  Status start_threads() ECHOLINE_EXCLUDES(mutex_);
  Status take_loaded(Worker& first);
  // A free worker that has loaded the function. Give each one back; null: it was destroyed.
  Result<std::unique_ptr<Worker>> borrow(const std::atomic<bool>* stopping)
      ECHOLINE_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<Worker> worker) ECHOLINE_EXCLUDES(mutex_);
  // The worker, or a new one if it is null. `alone`: in a process without other calls.
  Result<std::unique_ptr<Worker>> loaded(std::unique_ptr<Worker> worker, bool alone,
                                         const std::atomic<bool>* stopping);
  Result<std::unique_ptr<Worker>> start_worker(bool alone, const std::atomic<bool>* stopping);
  void destroy(std::unique_ptr<Worker> worker);
  // The same, and its place is free for a new one.
  void replace(std::unique_ptr<Worker> worker) ECHOLINE_EXCLUDES(mutex_);
  // Sends the samples to the worker and waits for its answer. An error: nothing was sent.
  Result<Outcome> exchange(Worker& worker, std::span<const SampleCall> samples,
                           const std::atomic<bool>* stopping, std::string& written);
  // Calls the function in a worker that is free; or in a process without other calls, for a sample
  // that was lost together with others.
  Status call_one(const SampleCall& sample, const std::atomic<bool>* stopping, Ended& ended);
  Status call_alone(const SampleCall& sample, const std::atomic<bool>* stopping, Ended& ended);
  // `ended` other than kReply: the worker is lost.
  Status call(Worker& worker, const SampleCall& sample, const std::atomic<bool>* stopping,
              Ended& ended);
  Progress call_several(Worker& worker, std::span<const SampleCall> samples,
                        const std::atomic<bool>* stopping, Ended& ended);

  const Function function_;
  const Results results_;
  Counters counters_;
  Verdicts verdicts_;
  std::string versions_;
  ThreadWorkers threads_;
  bool has_threads_ = false;  // workers are those of threads_
  std::uint64_t length_ = 0;  // as the first process has said; all others have to agree
  Mutex mutex_;               // no other lock is taken under it
  CondVar freed_;
  // Of the workers that are free; null: the process has to be started again.
  std::deque<std::unique_ptr<Worker>> free_ ECHOLINE_GUARDED_BY(mutex_);
};

// The outputs that a plugin describes for these inputs and settings, from a process of its own.
// kInvalidArgument if it refuses them.
Result<std::vector<decode::FieldType>> describe(const Function& function);

}  // namespace echoline::user_code
