// The limit on requests in flight at one endpoint. All streams of the process share it, so that
// they slow down and recover together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "source/core/endpoint_rates.h"
#include "source/http/adaptive_limit.h"
#include "source/http/throughput_search.h"

namespace echoline::source {

// How an attempt ended, for the limit.
enum class AttemptEnd : std::uint8_t { kGood, kRefused, kOther };

// The lower of two limits: the number that the store does not refuse, and the number that gives the
// best throughput. Thread-safe. Room is first come, first served: the member that has waited
// longest is woken first, and no other overtakes it.
class EndpointLimit {
 public:
  // The limit of this endpoint: the existing one while any member holds it, else a new one, which
  // begins with what the last one has learned (learned_limits.h).
  static std::shared_ptr<EndpointLimit> of(const std::string& endpoint);
  explicit EndpointLimit(std::string endpoint);

  class Member;
  std::size_t limit() const;
  bool is_reduced() const;  // the store has refused requests recently
  // Of all members together: one for each size of answers that was measured, or one without points.
  std::vector<EndpointRates> rates() const;

 private:
  // All but limit_now are called by members only.
  bool begin(Member& member);
  void end(Member& member, AttemptEnd how, const AnswerSeen& answer, std::uint64_t now_ns);
  // The lower of the two limits.
  std::size_t limit_now() const ECHOLINE_REQUIRES(mutex_);
  void withdraw(Member& member);
  void join(Member& member);
  // Also notes what the search has found (learned_limits.h); may write a file.
  void leave(Member& member);
  // Wakes the member that has waited longest, if there is room.
  void wake_next() ECHOLINE_REQUIRES(mutex_);

  const std::string endpoint_;
  mutable Mutex mutex_;
  // What the store accepts without refusals.
  AdaptiveLimit accepted_ ECHOLINE_GUARDED_BY(mutex_);
  ThroughputSearch search_ ECHOLINE_GUARDED_BY(mutex_);
  std::size_t cap_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::size_t in_flight_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::deque<Member*> waiting_ ECHOLINE_GUARDED_BY(mutex_);  // for room, in the order of arrival
};

// One stream's share. The cap of the limit is the sum of its members' caps. One thread, except that
// any thread may call `wake`, under the limit's lock: it must be quick and must not call back.
class EndpointLimit::Member {
 public:
  Member(std::shared_ptr<EndpointLimit> limit, std::size_t cap, std::function<void()> wake);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Takes room for one attempt. If there is none, returns false and calls `wake` when there is.
  bool begin();
  // Gives the room back.
  void end(AttemptEnd how, const AnswerSeen& answer, std::uint64_t now_ns);
  // Stops waiting for room.
  void withdraw();
  std::size_t limit() const { return limit_->limit(); }
  bool is_reduced() const { return limit_->is_reduced(); }
  const EndpointLimit& shared() const { return *limit_; }

 private:
  friend class EndpointLimit;
  const std::shared_ptr<EndpointLimit> limit_;
  const std::size_t cap_;
  const std::function<void()> wake_;
  std::size_t in_flight_ = 0;
  bool waiting_for_room_ = false;  // guarded by limit_->mutex_
};

}  // namespace echoline::source
