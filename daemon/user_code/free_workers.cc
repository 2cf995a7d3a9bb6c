#include "user_code/free_workers.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "user_code/description.h"

namespace echoline::user_code {
namespace {

constexpr std::uint64_t kLoadLeastNs = 120'000'000'000;
constexpr std::uint64_t kEndNs = 500'000'000;
constexpr std::uint64_t kLengthMax = std::uint64_t{1} << 32;
constexpr int kStartsMax = 3;
constexpr std::chrono::milliseconds kStartPause{1000};
constexpr std::chrono::milliseconds kLook{100};

bool is_set(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(); }

Status cancelled() { return Status(Code::kCancelled, "the pass has ended"); }

// How long a process may load the function: `timeout` may give it more time.
Patience until_loaded(const Function& function, const std::atomic<bool>* stopping) {
  return {.deadline_ns = monotonic_ns() + std::max(kLoadLeastNs, function.timeout_ns),
          .stopping = stopping};
}

Status check_length(const Function& function, std::uint64_t length) {
  if (!function.is_data_set) return {};
  if (length == 0) return Status(Code::kInvalidArgument, "the data set has no samples");
  if (length <= kLengthMax) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("the data set has {} samples, more than {}", length, kLengthMax));
}

// Whether the first process has loaded the function.
Status check_loaded(const Function& function, const Outcome& outcome, const std::string& written) {
  const std::string what = fmt::format("{}: {} of {} cannot be loaded by {}", function.key(),
                                       function.name, function.file, function.interpreter);
  if (outcome.ended != Ended::kReply)
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: the process {}{}{}", what, outcome.reason,
                              written.empty() ? "" : "; it wrote:\n", written));
  const Reply& reply = outcome.reply;
  if (reply.kind == ReplyKind::kNotLoaded) {
    const char* remedy =
        reply.summary.starts_with("ModuleNotFoundError")
            ? "; `interpreter` of the step, or ECHOLINE_PYTHON, names another Python"
            : "";
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {}{}{}{}", what, printable(reply.summary), remedy,
                              reply.details.empty() ? "" : "\n", printable(reply.details)));
  }
  return check_length(function, reply.length).with_context(what);
}

// Of a later process; empty if it has loaded the function.
std::string why_not_ready(const Outcome& outcome, std::uint64_t length) {
  const Reply& reply = outcome.reply;
  if (outcome.ended != Ended::kReply) return "the process " + outcome.reason;
  if (reply.kind != ReplyKind::kReady)
    return reply.summary.empty() ? "it says no reason" : printable(reply.summary);
  if (reply.length == length) return {};
  return fmt::format("the data set has {} samples in it, and had {} when the stream was opened",
                     reply.length, length);
}

// Plugins destroy their instances; all at the same time, so that the end takes no longer with more.
void end_in_order(const std::deque<std::unique_ptr<Worker>>& workers) {
  for (const std::unique_ptr<Worker>& worker : workers) {
    if (worker != nullptr) worker->let_end();
  }
  const std::uint64_t deadline_ns = monotonic_ns() + kEndNs;
  for (const std::unique_ptr<Worker>& worker : workers) {
    const std::uint64_t now_ns = monotonic_ns();
    if (worker == nullptr || now_ns >= deadline_ns) continue;
    worker->is_alive(static_cast<int>((deadline_ns - now_ns) / 1'000'000) + 1);
  }
}

}  // namespace

FreeWorkers::~FreeWorkers() {
  const MutexLock lock(mutex_);
  if (function_.library != nullptr) end_in_order(free_);
  free_.clear();
}

Status FreeWorkers::start() {
  std::unique_ptr<Worker> first;
  ECHOLINE_TRY(start_first(first));
  // Processes load the function meanwhile; each is waited for at its first call.
  for (std::uint32_t i = 1; i < function_.workers; ++i) {
    ECHOLINE_ASSIGN(std::unique_ptr<Worker> worker, start_worker(false, nullptr));
    give_back(std::move(worker));
  }
  ECHOLINE_TRY(take_loaded(*first));
  give_back(std::move(first));
  return {};
}

Status FreeWorkers::start_first(std::unique_ptr<Worker>& first) {
  // Its answer says whether others can be threads of its process.
  has_threads_ = function_.threads && function_.workers > 1;
  ECHOLINE_ASSIGN(first, start_worker(false, nullptr));
  if (!has_threads_) return {};
  ECHOLINE_TRY(take_loaded(*first));
  has_threads_ = first->await_loaded({}).reply.threads > 1;
  if (!has_threads_)
    log_info(function_.key(), "{}: {} has a GIL after its imports, so workers are processes",
             function_.file, function_.interpreter);
  return {};
}

Status FreeWorkers::take_loaded(Worker& first) {
  const Outcome& outcome = first.await_loaded(until_loaded(function_, nullptr));
  const std::string written = printable(first.take_written());
  ECHOLINE_TRY(check_loaded(function_, outcome, written));
  versions_ = printable(outcome.reply.summary);
  length_ = outcome.reply.length;
  log_.wrote(written);
  return {};
}

Result<std::unique_ptr<Worker>> FreeWorkers::start_worker(bool alone,
                                                          const std::atomic<bool>* stopping) {
  ECHOLINE_ASSIGN(std::unique_ptr<Worker> worker,
                  has_threads_ && !alone ? threads_.take(until_loaded(function_, stopping))
                                         : Worker::start(function_));
  counters_.workers.fetch_add(1, std::memory_order_relaxed);
  return worker;
}

void FreeWorkers::destroy(std::unique_ptr<Worker> worker) {
  // With other threads of its process, which are replaced when somebody needs them.
  worker->kill();
  worker.reset();
  counters_.workers.fetch_sub(1, std::memory_order_relaxed);
  counters_.replaced.fetch_add(1, std::memory_order_relaxed);
}

void FreeWorkers::lost(std::unique_ptr<Worker> worker) {
  destroy(std::move(worker));
  give_back(nullptr);
}

Result<std::unique_ptr<Worker>> FreeWorkers::alone(std::unique_ptr<Worker> kept,
                                                   const std::atomic<bool>* stopping) {
  return loaded(std::move(kept), true, stopping);
}

void FreeWorkers::end_alone(std::unique_ptr<Worker> worker) {
  worker.reset();
  counters_.workers.fetch_sub(1, std::memory_order_relaxed);
}

void FreeWorkers::give_back(std::unique_ptr<Worker> worker) {
  {
    const MutexLock lock(mutex_);
    free_.push_back(std::move(worker));
  }
  freed_.notify_one();
}

Result<std::unique_ptr<Worker>> FreeWorkers::borrow(const std::atomic<bool>* stopping) {
  std::unique_ptr<Worker> worker;
  {
    MutexLock lock(mutex_);
    while (free_.empty()) {
      if (is_set(stopping)) return cancelled();
      // Others give theirs back at the latest when their time is over.
      freed_.wait_until(lock, std::chrono::steady_clock::now() + kLook);
    }
    worker = std::move(free_.front());
    free_.pop_front();
  }
  Result<std::unique_ptr<Worker>> ready = loaded(std::move(worker), false, stopping);
  // Its place stays: the next borrower tries again.
  if (!ready.ok()) give_back(nullptr);
  return ready;
}

Result<std::unique_ptr<Worker>> FreeWorkers::loaded(std::unique_ptr<Worker> worker, bool alone,
                                                    const std::atomic<bool>* stopping) {
  std::string reason;
  // Ended without a call, as by the kernel where memory is short: that is no failure of this
  // sample.
  if (worker != nullptr && !worker->is_alive()) destroy(std::move(worker));
  for (int i = 0; i < kStartsMax; ++i) {
    if (worker == nullptr) {
      Result<std::unique_ptr<Worker>> started = start_worker(alone, stopping);
      if (!started.ok()) {
        reason = started.status().message();
        if (is_set(stopping)) return cancelled();
        std::this_thread::sleep_for(kStartPause);
        continue;
      }
      worker = std::move(*started);
    }
    const Outcome& outcome = worker->await_loaded(until_loaded(function_, stopping));
    reason = why_not_ready(outcome, length_);
    if (reason.empty()) return worker;
    const bool stopped = outcome.ended == Ended::kStopped;
    destroy(std::move(worker));
    if (stopped || is_set(stopping)) return cancelled();
  }
  return Status(Code::kFailedPrecondition,
                fmt::format("{}: {} of {} can no longer be loaded in a new process: {}",
                            function_.key(), function_.name, function_.file, reason));
}

Result<std::vector<decode::FieldType>> describe(const Function& function) {
  ECHOLINE_ASSIGN(const std::unique_ptr<Worker> worker, Worker::start(function));
  const Outcome outcome = worker->await_loaded(until_loaded(function, nullptr));
  ECHOLINE_TRY(check_loaded(function, outcome, printable(worker->take_written())));
  return parse_outputs(outcome.reply.details, function.sample_bytes);
}

}  // namespace echoline::user_code
