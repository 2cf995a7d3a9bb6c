// An exchange of HttpOperations: its attempts, its pause, and its time without progress.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "source/core/counters.h"
#include "source/http/attempt.h"
#include "source/http/http_operation.h"

namespace echoline::source {

// Less than this in a time-out is a drip, not progress.
inline constexpr std::uint64_t kProgressBytes = 64 << 10;

// The first attempt, and the second request for one that is late.
enum class Place : std::uint8_t { kFirst, kSecond };

inline Place other(Place place) { return place == Place::kFirst ? Place::kSecond : Place::kFirst; }

// One thread; stays where it was made.
class OperationState {
 public:
  OperationState(std::uint64_t id, std::unique_ptr<HttpOperation> exchange)
      : id_(id),
        exchange_(std::move(exchange)),
        waits_since_ns_(monotonic_ns()),
        progress_ns_(waits_since_ns_) {}

  HttpSink& begin(SharedCounters& counters) {
    const std::uint64_t now = monotonic_ns();
    counters.add_wait(WaitReason::kLimit, now - waits_since_ns_);
    progress_ns_ += now - waits_since_ns_;
    if (failures_ == 0) progress_ns_ = now;
    answered_ = nullptr;
    hedged_ = false;
    return attempt(Place::kFirst).emplace(*exchange_, answered_, counters);
  }

  HttpSink& begin_second(SharedCounters& counters) {
    hedged_ = true;
    return attempt(Place::kSecond).emplace(*exchange_, answered_, counters);
  }

  std::optional<Attempt>& attempt(Place place) {
    return attempts_[static_cast<std::size_t>(place)];
  }
  bool is_under_way() const { return attempts_[0] || attempts_[1]; }
  bool has_answer(Place place) { return answered_ != nullptr && answered_ == &*attempt(place); }
  // How long its attempt has waited for an answer; 0 if it has one, or was asked for again.
  std::uint64_t silent_ns(std::uint64_t now_ns) const {
    if (!attempts_[0] || hedged_ || answered_ != nullptr || !exchange_->may_be_hedged()) return 0;
    return now_ns - std::min(now_ns, attempts_[0]->begin_ns());
  }

  // What this attempt brought counts as progress if it was more than a drip.
  void note_progress() {
    const std::uint64_t progress = exchange_->progress();
    if (progress < progress_bytes_ + kProgressBytes) return;
    progress_bytes_ = progress;
    progress_ns_ = monotonic_ns();
    failures_ = 0;
  }

  std::uint64_t give_up_ns(std::uint64_t timeout_ns) const { return progress_ns_ + timeout_ns; }

  const std::uint64_t id_;
  std::unique_ptr<HttpOperation> exchange_;
  std::uint32_t failures_ = 0;
  Status last_failure_;
  std::uint64_t waits_since_ns_;  // for room
  std::uint64_t pause_begin_ns_ = 0;
  std::uint64_t due_ns_ = 0;
  bool due_is_told_ = false;  // the store said when
  WaitReason pause_reason_ = WaitReason::kBroken;

 private:
  std::array<std::optional<Attempt>, 2> attempts_;  // while they are under way
  const Attempt* answered_ = nullptr;
  bool hedged_ = false;
  std::uint64_t progress_bytes_ = 0;
  std::uint64_t progress_ns_;
};

}  // namespace echoline::source
