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
#include "user_code/step_log.h"
#include "user_code/worker.h"

namespace echoline::user_code {

// Sums over all calls.
struct Counters {
  std::atomic<std::uint64_t> returned{0};
  std::atomic<std::uint64_t> raised{0};   // an exception
  std::atomic<std::uint64_t> refused{0};  // what it returned was not what the step declares
  std::atomic<std::uint64_t> died{0};     // the process ended, or sent what is no reply
  std::atomic<std::uint64_t> timed_out{0};
  std::atomic<std::uint64_t> ns{0};  // from the call to the answer, without waits for a worker
  std::atomic<std::uint64_t> replaced{0};  // workers
  std::atomic<std::uint64_t> workers{0};   // processes now
};

// Any thread may call run(); it must not be in use when it is destroyed.
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

  // Calls the function on `arguments` (by input) and fills `results` (by output), which may borrow
  // the arguments' bytes. kInvalidArgument or kResourceExhausted: this sample has no result.
  // kFailedPrecondition: workers cannot be started any more. kCancelled: `stopping` became true.
  Status run(std::span<const decode::Tensor* const> arguments, const UseKey& key,
             const std::atomic<bool>* stopping, std::span<decode::Tensor* const> results);

 private:
  struct Call {  // the arguments of run()
    std::span<const decode::Tensor* const> arguments;
    const UseKey& key;
    const std::atomic<bool>* stopping;
    std::span<decode::Tensor* const> results;
  };

  explicit Workers(Function function);
  // A free worker that has loaded the function. Give each one back; null: it was destroyed.
  Result<std::unique_ptr<Worker>> borrow(const std::atomic<bool>* stopping)
      ECHOLINE_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<Worker> worker) ECHOLINE_EXCLUDES(mutex_);
  // The worker, or a new one if it is null.
  Result<std::unique_ptr<Worker>> loaded(std::unique_ptr<Worker> worker,
                                         const std::atomic<bool>* stopping);
  Result<std::unique_ptr<Worker>> start_worker();
  void destroy(std::unique_ptr<Worker> worker);
  // `ended` other than kReply: the worker is lost.
  Status call(Worker& worker, const Call& call, Ended& ended);
  // Takes the results out of the worker's memory, if they are right.
  Status take_results(const Reply& reply, std::span<const std::byte> area, const Call& call) const;
  // The errors of a call that was answered without a result, and of one that was not answered.
  Status count_failure(const Reply& reply);
  Status count_loss(const Outcome& outcome, const std::string& written);

  const Function function_;
  const std::vector<std::size_t>
      same_input_;  // by output: the input of its name; inputs.size(): none
  Counters counters_;
  StepLog log_;
  std::string versions_;
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
