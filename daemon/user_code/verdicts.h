// What is counted, logged and said of calls that have no result.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "user_code/function.h"
#include "user_code/message.h"
#include "user_code/step_log.h"
#include "user_code/worker.h"

namespace echoline::user_code {

// Sums over all samples.
struct Counters {
  std::atomic<std::uint64_t> returned{0};
  std::atomic<std::uint64_t> raised{0};     // an exception
  std::atomic<std::uint64_t> refused{0};    // what it returned was not what the step declares
  std::atomic<std::uint64_t> died{0};       // the process ended, or sent what is no reply
  std::atomic<std::uint64_t> timed_out{0};  // calls
  std::atomic<std::uint64_t> given_up{0};   // samples, after a last call that timed out
  std::atomic<std::uint64_t> repeated{0};   // exchanges after which samples were called one by one
  std::atomic<std::uint64_t> ns{0};  // from the call to the answer, without waits for a worker
  std::atomic<std::uint64_t> replaced{0};  // workers
  std::atomic<std::uint64_t> workers{0};   // processes now
};

// Any thread.
class Verdicts {
 public:
  // Both must outlive it.
  Verdicts(const Function& function, Counters& counters)
      : function_(function), counters_(counters), log_(function.key(), function.file) {}

  // The errors of a call that was answered without a result, and of one that was not answered.
  Status of_failure(const Reply& reply);
  Status of_loss(const Outcome& outcome, const std::string& written);
  // The error of a sample that is not called again.
  Status of_kept() const;
  // A chunk was answered without results; its samples are called one by one.
  void of_chunk(const Reply& reply, std::size_t samples);
  StepLog& log() { return log_; }

 private:
  const Function& function_;
  Counters& counters_;
  StepLog log_;
};

}  // namespace echoline::user_code
