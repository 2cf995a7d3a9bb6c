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
    std::optional<Pass::Options> options;
    // A stream that failed or was closed refuses everybody in the queue.
    const auto attachment = open.ok() ? try_join(first, /*also_split_off=*/false, now_ns, options)
                                      : Result<std::optional<Attachment>>(open);
    // Its pass has to be built first. The trainers behind it wait, too, because they may want it.
    if (options.has_value() && first.builds < kBuildsMax) {
      ++first.builds;
      return options;
    }
    // Taken out before the reply: the reply may run code of the door, and must find the queue
    // consistent.
    const ReplyFunction reply = std::move(first.call.reply);
    waiting_.pop_front();
    if (!attachment.ok()) {
      reply(attachment.status());
    } else if (attachment->has_value()) {
      reply(**attachment);
    } else {
      reply(Status(Code::kUnavailable, "no pass of the stream reaches this position; try again"));
    }
  }
  return std::nullopt;
}

void AttachQueue::admit_without_pass(const Status& open, const Status& why, std::uint64_t now_ns) {
  // Removed whatever the result is: it does not ask for another pass.
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  if (!open.ok()) return first.call.reply(open);
  std::optional<Pass::Options> options;
  // To read together with a slow job is better than not to read.
  const auto attachment = try_join(first, /*also_split_off=*/true, now_ns, options);
  if (!attachment.ok()) return first.call.reply(attachment.status());
  if (!attachment->has_value()) return first.call.reply(why);
  first.call.reply(**attachment);
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

Result<std::optional<Attachment>> AttachQueue::try_join(Waiting& waiting, bool also_split_off,
                                                        std::uint64_t now_ns,
                                                        std::optional<Pass::Options>& options) {
  // Made again at each turn: the request stays, and the present time counts as attached.
  ECHOLINE_ASSIGN(Consumer consumer, admission_.consumer_of(waiting.call, now_ns));
  ECHOLINE_TRY(decide_start(waiting, consumer));
  consumer.start = waiting.start->position;
  PassSet::Wanted wanted = admission_.wanted_by(consumer, *waiting.start);
  wanted.also_split_off = also_split_off;
  ECHOLINE_ASSIGN(const std::optional<JoinedPass> joined, passes_.join(wanted));
  // No pass has the position: `options` tell the caller which one to build.
  if (!joined.has_value()) {
    options = admission_.new_pass_for(consumer, *waiting.start);
    return std::optional<Attachment>();
  }
  return std::optional(place_(std::move(consumer), *joined, waiting.call, *waiting.start));
}

}  // namespace echoline::engine
