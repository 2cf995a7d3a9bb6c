// One attempt at an operation: takes the response as it arrives and judges it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "source/core/counters.h"
#include "source/http/body_rates.h"
#include "source/http/endpoint_limit.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

enum class AttemptRole : std::uint8_t {
  kFirst,        // the first request, or one after a failure
  kHedge,        // the same request a second time, because the first has no answer yet
  kReplacement,  // a request for the missing part, because the answer in flight is slow
};

// Used by the polling thread only. The operation, the counters and `answered` must outlive it. Two
// attempts at one operation can be in flight. They share `answered`: the attempt whose answer the
// operation takes. That is the first good answer, until a replacement gets a good answer. The other
// attempt ends with its next bytes.
class Attempt : public HttpSink {
 public:
  Attempt(AttemptRole role, HttpOperation& operation, const Attempt*& answered,
          SharedCounters& counters);
  ~Attempt() override;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  bool on_response(const HttpResponse& response) override;
  bool on_body(std::span<const std::byte> bytes) override;

  // Call it once, after the attempt has ended.
  Verdict judge(const HttpResult& result);

  // After a verdict to retry: why the operation pauses, and what the attempt means for the
  // endpoint's limit.
  WaitReason reason(const HttpResult& result) const;
  AttemptEnd end(const HttpResult& result) const;

  // The store's Retry-After, at most 30 s; 0 if there is none.
  std::uint64_t retry_after_ns() const;
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  // From its request to its good answer, once there is one.
  std::uint64_t waited_ns() const { return answer_ns_ - begin_ns_; }
  std::uint64_t answer_ns() const { return answer_ns_; }
  // For the limit; without a wait if there was no good answer.
  AnswerSeen seen() const { return {bytes_, answer_ns_ == 0 ? 0 : waited_ns()}; }
  AttemptRole role() const { return role_; }
  BodyPace& pace() { return pace_; }

 private:
  // The operation accepts this answer in place of the one in flight, or as its only one.
  bool take_over(const HttpResponse& response);
  bool is_success() const { return response_.status / 100 == 2; }
  bool is_throttled() const { return response_.status == 429 || response_.status == 503; }

  const AttemptRole role_;
  HttpOperation& operation_;
  const Attempt*& answered_;
  SharedCounters& counters_;
  const std::uint64_t begin_ns_;
  std::uint64_t answer_ns_ = 0;
  BodyPace pace_;  // from the answer on
  std::uint64_t bytes_ = 0;
  HttpResponse response_;
  Verdict accepted_;
  std::string error_body_;
};

}  // namespace echoline::source
