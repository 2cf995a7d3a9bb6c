#include "user_code/verdicts.h"

#include <fmt/core.h>

namespace echoline::user_code {

Status Verdicts::of_failure(const Reply& reply) {
  const bool raised = reply.kind == ReplyKind::kRaised;
  (raised ? counters_.raised : counters_.refused).fetch_add(1, std::memory_order_relaxed);
  log_.failed(reply.group, fmt::format("{}: {}", function_.name, reply.summary), reply.details);
  return Status(Code::kInvalidArgument, fmt::format("{}: {}: {}", function_.key(), function_.name,
                                                    printable(reply.summary)));
}

Status Verdicts::of_loss(const Outcome& outcome, const std::string& written) {
  // Not a failure: nobody wants the result any more.
  if (outcome.ended == Ended::kStopped) return {};
  const bool late = outcome.ended == Ended::kTimedOut;
  (late ? counters_.timed_out : counters_.died).fetch_add(1, std::memory_order_relaxed);
  const std::string reason =
      late ? fmt::format("a call took more than {} ms (timeout)", function_.timeout_ns / 1'000'000)
           : "its process " + outcome.reason;
  log_.failed(reason, fmt::format("{}: {}; another process is started", function_.name, reason),
              written);
  return Status(Code::kInvalidArgument,
                fmt::format("{}: {}: {}, twice", function_.key(), function_.name, reason));
}

Status Verdicts::of_kept() const {
  return Status(
      Code::kInvalidArgument,
      fmt::format("{}: {}: this sample lost two workers before, so it is not called again",
                  function_.key(), function_.name));
}

void Verdicts::of_chunk(const Reply& reply, std::size_t samples) {
  // A chunk of one is what has a verdict.
  if (samples == 1) return;
  // The calls with one sample may succeed; then nothing else would tell of this.
  log_.failed("of a chunk: " + reply.group,
              fmt::format("{}: for a chunk of {} samples: {}; they are called one by one",
                          function_.name, samples, reply.summary),
              reply.details);
}

}  // namespace echoline::user_code
