// The limit on requests under way at one endpoint, shared by all streams of the process: one that
// is told to slow down slows the others with it, and they recover together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "source/http/adaptive_limit.h"
#include "source/http/throughput_search.h"

namespace echoline::source {

// How an attempt ended, as far as the limit is concerned.
enum class AttemptEnd : std::uint8_t { kGood, kRefused, kOther };

// The lower of what the store does not refuse and what brings most. Any thread. Room is given in
// turn: who waits longest is woken first, and none overtakes.
class EndpointLimit {
 public:
  // The limit of that name, as long as anybody has it; else a new one.
  static std::shared_ptr<EndpointLimit> of(const std::string& endpoint);

  class Member;
  std::size_t limit() const;
  bool is_reduced() const;  // the store asked for less a short while ago

 private:
  bool begin(Member& member);
  void end(Member& member, AttemptEnd how, std::uint64_t bytes, std::uint64_t now_ns);
  std::size_t limit_now() const;
  void withdraw(Member& member);
  void join(Member& member);
  void leave(Member& member);
  void wake_first();

  mutable std::mutex mutex_;
  AdaptiveLimit taken_;  // by the store, without refusals
  ThroughputSearch fastest_;
  std::size_t cap_ = 0;
  std::size_t in_flight_ = 0;
  std::deque<Member*> waiting_;
};

// One stream's share; the cap of all is the sum of theirs. One thread, but `wake` is called from
// any, under a lock: it must be quick and call nothing back.
class EndpointLimit::Member {
 public:
  Member(std::shared_ptr<EndpointLimit> limit, std::size_t cap, std::function<void()> wake);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Takes room for one attempt; if there is none, `wake` is called when there is.
  bool begin();
  // `bytes`: of the answer.
  void end(AttemptEnd how, std::uint64_t bytes, std::uint64_t now_ns);
  // Nothing waits for room any more.
  void withdraw();
  std::size_t limit() const { return limit_->limit(); }
  bool is_reduced() const { return limit_->is_reduced(); }

 private:
  friend class EndpointLimit;
  const std::shared_ptr<EndpointLimit> limit_;
  const std::size_t cap_;
  const std::function<void()> wake_;
  std::size_t under_way_ = 0;
  bool waits_ = false;  // under the limit's lock
};

}  // namespace echoline::source
