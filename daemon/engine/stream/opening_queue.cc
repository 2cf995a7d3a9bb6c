#include "engine/stream/opening_queue.h"

#include <algorithm>

#include "echoline/shm/door.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kReportNs = 1'000'000'000;

}  // namespace

bool OpeningQueue::withdraw(std::uint64_t connection) {
  const auto left =
      std::find_if(calls_.begin(), calls_.end(),
                   [connection](const AttachCall& call) { return call.connection == connection; });
  if (left == calls_.end()) return false;
  if (static_cast<std::size_t>(left - calls_.begin()) < reported_) --reported_;
  calls_.erase(left);
  return true;
}

void OpeningQueue::report_progress(const std::string& text, std::uint64_t now_ns,
                                   const Send& send) {
  const bool all = now_ns - reported_ns_ >= kReportNs;
  if (all) reported_ns_ = now_ns;
  // New ones get it at once, so that a short patience of theirs is enough.
  for (std::size_t i = all ? 0 : reported_; i < calls_.size(); ++i) {
    if (calls_[i].request.door_minor < shm::kDoorMinorOpening) continue;
    send({calls_[i].connection, shm::kNoticeOpening, Status(Code::kUnavailable, text)});
  }
  reported_ = calls_.size();
}

void OpeningQueue::refuse_all(const Status& why) {
  for (const AttachCall& call : calls_) call.reply(why);
  calls_.clear();
  reported_ = 0;
}

}  // namespace echoline::engine
