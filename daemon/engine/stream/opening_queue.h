// Trainers that wait for a stream that is being opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/jobs/attach_call.h"

namespace echoline::engine {

// In the order of their requests; the door bounds their number. Under the registry's lock.
class OpeningQueue {
 public:
  using Send = std::function<void(const TrainerNotice&)>;

  void add(AttachCall call) { calls_.push_back(std::move(call)); }
  // False if that connection does not wait here.
  bool withdraw(std::uint64_t connection);
  std::size_t size() const { return calls_.size(); }
  // Sends all of them how far the stream is: soon after add(), then once a second, so that they
  // know that the daemon is alive. Clients of an older version only wait.
  void report_progress(const std::string& text, std::uint64_t now_ns, const Send& send);
  void refuse_all(const Status& why);
  // The stream is open: the caller has them now.
  std::vector<AttachCall> take() { return std::move(calls_); }

 private:
  std::vector<AttachCall> calls_;
  std::size_t reported_ = 0;  // of them, those that got at least one notice
  std::uint64_t reported_ns_ = 0;
};

}  // namespace echoline::engine
