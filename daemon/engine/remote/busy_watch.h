// Busy servers are asked again, but not for ever: if they are busy for longer than a burst of
// requests lasts, they are too few, or an answer is too long to be received, which gRPC reports in
// the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/rate_limiter.h"
#include "engine/remote/remote_call.h"

namespace echoline::engine {

// Of the client's thread.
class BusyWatch {
 public:
  static constexpr std::uint64_t kPatienceNs = 10'000'000'000;

  // `wait`: no run is ever given up (prepare.fallback).
  BusyWatch(std::string stream, bool wait) : stream_(std::move(stream)), wait_(wait) {}

  void note_answer() { since_ns_ = 0; }
  // A server was busy when it was asked for the run, and this is what it said. True: the run is not
  // asked again. It has patience from its first such answer on, or from when servers began to give
  // no others. Logs it when the patience has ended.
  bool note_busy(RunState& state, std::string_view server, std::string_view why,
                 std::uint64_t now_ns);

 private:
  const std::string stream_;
  const bool wait_;
  std::uint64_t since_ns_ = 0;  // since the last answer; 0: none was busy
  RateLimiter log_{kPatienceNs};
};

}  // namespace echoline::engine
