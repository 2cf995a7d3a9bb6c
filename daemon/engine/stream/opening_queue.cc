#include "engine/stream/opening_queue.h"

#include <algorithm>

#include "echoline/shm/door.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kTellNs = 1'000'000'000;

}  // namespace

bool OpeningQueue::withdraw(std::uint64_t connection) {
  const auto left =
      std::find_if(calls_.begin(), calls_.end(),
                   [connection](const AttachCall& call) { return call.connection == connection; });
  if (left == calls_.end()) return false;
  if (static_cast<std::size_t>(left - calls_.begin()) < told_) --told_;
  calls_.erase(left);
  return true;
}

void OpeningQueue::tell_progress(const std::string& text, std::uint64_t now_ns, const Tell& tell) {
  const bool all = now_ns - told_ns_ >= kTellNs;
  if (all) told_ns_ = now_ns;
  // New ones are told at once, so that a short patience of theirs is enough.
  for (std::size_t i = all ? 0 : told_; i < calls_.size(); ++i) {
    if (calls_[i].request.door_minor < shm::kDoorMinorOpening) continue;
    tell({calls_[i].connection, shm::kNoticeOpening, Status(Code::kUnavailable, text)});
  }
  told_ = calls_.size();
}

void OpeningQueue::refuse_all(const Status& why) {
  for (const AttachCall& call : calls_) call.reply(why);
  calls_.clear();
  told_ = 0;
}

}  // namespace echoline::engine
