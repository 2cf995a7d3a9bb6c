// One attempt at an exchange: takes the response as it arrives, and says what it came to.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "source/core/counters.h"
#include "source/http/endpoint_limit.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// Of the polling thread. The exchange, the counters and `answered` must outlive it. Two attempts at
// one exchange may be under way at once: `answered`, which they share, is the one whose good answer
// came first. The exchange sees nothing of the other, which ends when its own answer comes.
class Attempt : public HttpSink {
 public:
  Attempt(HttpOperation& exchange, const Attempt*& answered, SharedCounters& counters);

  bool on_response(const HttpResponse& response) override;
  bool on_body(std::span<const std::byte> bytes) override;

  // Once it has ended; to be called once.
  Verdict judge(const HttpResult& result);

  // What a verdict that is to be retried means for the next attempt, and for the endpoint's limit.
  WaitReason reason(const HttpResult& result) const;
  AttemptEnd end(const HttpResult& result) const;

  // What the store said about when to come back; 0 if nothing.
  std::uint64_t retry_after_ns() const;
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  // From its request to its good answer, once there is one.
  std::uint64_t waited_ns() const { return answer_ns_ - begin_ns_; }

 private:
  bool is_success() const { return response_.status / 100 == 2; }
  bool is_throttled() const { return response_.status == 429 || response_.status == 503; }

  HttpOperation& exchange_;
  const Attempt*& answered_;
  SharedCounters& counters_;
  const std::uint64_t begin_ns_;
  std::uint64_t answer_ns_ = 0;
  std::uint64_t bytes_ = 0;
  HttpResponse response_;
  Verdict accepted_;
  std::string error_body_;
};

}  // namespace echoline::source
