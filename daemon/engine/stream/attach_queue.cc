#include "engine/stream/attach_queue.h"

#include <fmt/format.h>

#include <utility>

namespace echoline::engine {
namespace {

// A new pass lacks the position that it was built for only if the order was changed meanwhile. If
// that happens again and again, the trainer is refused and tries again itself.
constexpr std::uint32_t kBuildsMax = 3;

}  // namespace

bool AttachQueue::withdraw(std::uint64_t connection) {
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
           return waiting.call.connection == connection;
         }) > 0;
}

std::optional<Pass::Options> AttachQueue::admit(const Status& open, std::uint64_t now_ns) {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    // A stream that failed or was closed refuses everybody in the queue.
    const Result<Joined> joined =
        open.ok() ? try_join(first, /*also_split_off=*/false, now_ns) : Result<Joined>(open);
    // Its pass has to be built first. The trainers behind it wait, too, because they may want it.
    if (joined.ok() && std::holds_alternative<Pass::Options>(*joined) &&
        first.builds < kBuildsMax) {
      ++first.builds;
      return std::get<Pass::Options>(*joined);
    }
    // Taken out before the reply: the reply may run code of the door, and must find the queue
    // consistent.
    const ReplyFunction reply = std::move(first.call.reply);
    waiting_.pop_front();
    reply(reply_to(joined, Status(Code::kUnavailable,
                                  "no pass of the stream reaches this position; try again")));
  }
  return std::nullopt;
}

void AttachQueue::admit_without_pass(const Status& open, const Status& why, std::uint64_t now_ns) {
  // Removed whatever the result is: it does not ask for another pass.
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  if (!open.ok()) return first.call.reply(open);
  // To read together with a slow job is better than not to read.
  first.call.reply(reply_to(try_join(first, /*also_split_off=*/true, now_ns), why));
}

Result<Attachment> AttachQueue::reply_to(const Result<Joined>& joined, const Status& no_pass) {
  if (!joined.ok()) return joined.status();
  if (std::holds_alternative<Pass::Options>(*joined)) return no_pass;
  return std::get<Attachment>(*joined);
}

void AttachQueue::refuse_all(const Status& why) {
  // The queue is empty only afterwards; replies send messages and do not come back here.
  for (const Waiting& waiting : waiting_) waiting.call.reply(why);
  waiting_.clear();
}

Status AttachQueue::decide_start(Waiting& waiting, const Consumer& consumer) {
  const std::uint64_t changes = order_.changes();
  // A change may move the start, so it is decided again.
  if (!waiting.start.has_value() || waiting.order_changes != changes) {
    ECHOLINE_ASSIGN(waiting.start, admission_.start_of(waiting.call.request, consumer.job, order_));
    waiting.order_changes = changes;
  }
  return order_.check_attach(consumer, *waiting.start);
}

Result<AttachQueue::Joined> AttachQueue::try_join(Waiting& waiting, bool also_split_off,
                                                  std::uint64_t now_ns) {
  // Made again at each turn: the request stays, and the present time counts as attached.
  ECHOLINE_ASSIGN(Consumer consumer, admission_.consumer_of(waiting.call, now_ns));
  ECHOLINE_TRY(decide_start(waiting, consumer));
  consumer.start = waiting.start->position;
  PassSet::Wanted wanted = admission_.wanted_by(consumer, *waiting.start);
  wanted.also_split_off = also_split_off;
  ECHOLINE_ASSIGN(const std::optional<JoinedPass> joined, passes_.join(wanted));
  if (!joined.has_value()) return Joined(admission_.new_pass_for(consumer, *waiting.start));
  return Joined(place_(std::move(consumer), *joined, waiting.call, *waiting.start));
}

}  // namespace echoline::engine
