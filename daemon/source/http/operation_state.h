// What HttpOperations knows of one operation: its attempts, its pause, and its time without
// progress.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "source/core/counters.h"
#include "source/http/attempt.h"
#include "source/http/http_operation.h"

namespace echoline::source {

// Fewer bytes than this within a time-out do not count as progress.
inline constexpr std::uint64_t kProgressBytes = 64 << 10;

// Up to two attempts are in flight, each in a slot: the first request, and a hedge or replacement.
using AttemptSlot = std::uint8_t;

constexpr AttemptSlot other(AttemptSlot slot) { return slot == 0 ? 1 : 0; }

// One thread. Its address must not change: transfers in flight point to its attempts.
class OperationState {
 public:
  OperationState(std::uint64_t id, std::unique_ptr<HttpOperation> operation)
      : id_(id),
        operation_(std::move(operation)),
        queued_since_ns_(monotonic_ns()),
        progress_ns_(queued_since_ns_) {}

  // It has waited in the queue until now: that is no lack of progress, so the deadline moves.
  void note_queued(SharedCounters& counters) {
    const std::uint64_t since_ns = std::exchange(queued_since_ns_, monotonic_ns());
    counters.add_wait(WaitReason::kLimit, queued_since_ns_ - since_ns);
    progress_ns_ += queued_since_ns_ - since_ns;
  }

  HttpSink& begin(SharedCounters& counters) {
    note_queued(counters);
    if (failures_ == 0) progress_ns_ = queued_since_ns_;
    answered_ = nullptr;
    hedged_ = false;
    return attempt(0).emplace(AttemptRole::kFirst, *operation_, answered_, counters);
  }

  // A hedge or a replacement, in the free slot.
  HttpSink& begin_second(AttemptRole role, SharedCounters& counters) {
    hedged_ |= role == AttemptRole::kHedge;
    return attempt(free_slot()).emplace(role, *operation_, answered_, counters);
  }

  std::optional<Attempt>& attempt(AttemptSlot slot) { return attempts_[slot]; }
  AttemptSlot free_slot() const { return attempts_[0] ? 1 : 0; }
  bool in_flight() const { return attempts_[0] || attempts_[1]; }
  bool has_two() const { return attempts_[0] && attempts_[1]; }
  bool has_answer(AttemptSlot slot) { return attempt(slot) && answered_ == &*attempt(slot); }
  bool has_answer() const { return answered_ != nullptr; }
  // How long the first attempt has waited for an answer; 0 if it has one, or has a hedge already.
  std::uint64_t silent_ns(std::uint64_t now_ns) const {
    if (!attempts_[0] || hedged_ || answered_ != nullptr || !operation_->may_be_hedged()) return 0;
    return now_ns - std::min(now_ns, attempts_[0]->begin_ns());
  }

  // Whether the only attempt in flight has an answer that arrives far below this rate.
  bool is_slow(double low_rate, std::uint64_t now_ns) {
    if (!in_flight() || has_two() || !has_answer() || queued_for_replacement_) return false;
    Attempt& attempt = *attempts_[other(free_slot())];
    slow_rate_ = attempt.pace().rate(now_ns, attempt.bytes()).value_or(low_rate);
    return BodyPace::is_slow(slow_rate_, low_rate, operation_->bytes_left());
  }
  // Whether a replacement has taken over from an answer that is still in flight.
  bool is_replaced() {
    if (!has_two()) return false;
    const AttemptSlot slot = has_answer(0) ? 0 : 1;
    // A replacement that became slow itself has an answer before that of its own replacement.
    return has_answer(slot) && attempt(slot)->role() == AttemptRole::kReplacement &&
           attempt(slot)->begin_ns() > attempt(other(slot))->begin_ns();
  }
  // Bytes per second, as is_slow() measured it last.
  double slow_rate() const { return slow_rate_; }

  // Nobody read for a while: what arrived until now says nothing about the store.
  void restart_pace(std::uint64_t now_ns) {
    for (auto& attempt : attempts_)
      if (attempt) attempt->pace().restart(now_ns, attempt->bytes());
  }

  // Bytes of this attempt count as progress if there are at least kProgressBytes of them.
  void note_progress() {
    const std::uint64_t progress = operation_->progress();
    if (progress < progress_bytes_ + kProgressBytes) return;
    progress_bytes_ = progress;
    progress_ns_ = monotonic_ns();
    failures_ = 0;
  }

  std::uint64_t give_up_ns(std::uint64_t timeout_ns) const { return progress_ns_ + timeout_ns; }
  std::uint64_t without_progress_ns(std::uint64_t now_ns) const { return now_ns - progress_ns_; }

  const std::uint64_t id_;
  std::unique_ptr<HttpOperation> operation_;
  std::uint32_t failures_ = 0;  // since the last progress
  Status last_failure_;
  std::uint64_t queued_since_ns_;        // for room under the endpoint's limit
  bool queued_for_replacement_ = false;  // is in flight, and waits for room for a second request
  // Set by PausedOperations; due_ns_ is 0 outside a pause.
  std::uint64_t pause_begin_ns_ = 0;
  std::uint64_t due_ns_ = 0;
  bool due_set_by_store_ = false;  // the store sent Retry-After
  WaitReason pause_reason_ = WaitReason::kBroken;

 private:
  std::array<std::optional<Attempt>, 2> attempts_;  // by slot; empty when not in flight
  const Attempt* answered_ = nullptr;               // the one whose answer the operation takes
  bool hedged_ = false;
  double slow_rate_ = 0;
  std::uint64_t progress_bytes_ = 0;
  std::uint64_t progress_ns_;
};

using OperationStates = std::unordered_map<std::uint64_t, std::unique_ptr<OperationState>>;

}  // namespace echoline::source
