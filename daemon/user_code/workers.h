// The workers of one step: gives calls to those that are free, and decides what a call without a
// result means.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "decode/sample.h"
#include "echoline/shm/sample_random.h"
#include "user_code/free_workers.h"
#include "user_code/function.h"
#include "user_code/kept_verdicts.h"
#include "user_code/results.h"
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

  const Function& function() const { return function_; }
  const Counters& counters() const { return counters_; }
  // Samples that run() does not try again.
  KeptVerdicts& kept() const { return *kept_; }
  // Of the interpreter and of numpy.
  const std::string& versions() const { return free_.versions(); }
  // Whether they are threads of one process.
  bool has_threads() const { return free_.has_threads(); }
  // The samples of a data set; 0: a function.
  std::uint64_t length() const { return free_.length(); }

  // Calls the function on a sample and fills its results, which may borrow the arguments' bytes or
  // be in their `destination`.
  // kInvalidArgument or kResourceExhausted: this sample has no result. kFailedPrecondition: workers
  // cannot be started any more. kCancelled: `stopping` became true.
  Status run(const SampleCall& sample, const std::atomic<bool>* stopping);
  // Gives as many of the samples as one exchange may have to a worker, once. Never decides that a
  // sample is bad, which must not depend on the others: a sample without a result is for run().
  Progress run_several(std::span<const SampleCall> samples, const std::atomic<bool>* stopping);

 private:
  explicit Workers(Function function);
  // Sends the samples to the worker and waits for its answer. An error: nothing was sent.
  Result<Outcome> exchange(Worker& worker, std::span<const SampleCall> samples,
                           const std::atomic<bool>* stopping, std::string& written);
  // Calls the function in a worker that is free.
  Status call_one(const SampleCall& sample, const std::atomic<bool>* stopping, Ended& ended);
  // In a process without other calls, for a sample that was lost together with others. One after
  // the other, so that there is only one more process, however many calls were lost.
  Status call_alone(const SampleCall& sample, const std::atomic<bool>* stopping, Ended& ended)
      ECHOLINE_EXCLUDES(alone_mutex_);
  Status call_in_alone(const SampleCall& sample, const std::atomic<bool>* stopping, Ended& ended)
      ECHOLINE_REQUIRES(alone_mutex_);
  // `ended` other than kReply: the worker is lost.
  Status call(Worker& worker, const SampleCall& sample, const std::atomic<bool>* stopping,
              Ended& ended);
  Progress call_several(Worker& worker, std::span<const SampleCall> samples,
                        const std::atomic<bool>* stopping, Ended& ended);

  const Function function_;
  const Results results_;
  Counters counters_;
  Verdicts verdicts_;
  const std::unique_ptr<KeptVerdicts> kept_ = std::make_unique<KeptVerdicts>();
  FreeWorkers free_;
  std::atomic<int> alone_callers_ = 0;  // that call or wait
  Mutex alone_mutex_;                   // before that of free_
  std::unique_ptr<Worker> alone_ ECHOLINE_GUARDED_BY(alone_mutex_);
};

}  // namespace echoline::user_code
