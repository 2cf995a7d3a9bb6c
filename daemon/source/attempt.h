// One attempt at an exchange: takes the response as it arrives, and says what it came to.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "source/counters.h"
#include "source/endpoint_limit.h"
#include "source/exchange.h"
#include "source/http_transfers.h"

namespace echoline::source {

// Of the polling thread. The exchange, the counters must outlive it.
class Attempt : public HttpSink {
 public:
  Attempt(Exchange& exchange, SharedCounters& counters);

  bool on_response(const HttpResponse& response) override;
  bool on_body(std::span<const std::byte> bytes) override;

  // Once it has ended; to be called once.
  Verdict judge(const HttpResult& result);

  // What a verdict that is to be retried means for the next attempt, and for the endpoint's limit.
  WaitReason reason(const HttpResult& result) const;
  AttemptEnd end(const HttpResult& result) const;

  // What the store said about when to come back; 0 if nothing.
  std::uint64_t retry_after_ns() const;
  std::uint64_t begin_ns() const { return begin_ns_; }

 private:
  bool is_success() const { return response_.status / 100 == 2; }
  bool is_throttled() const { return response_.status == 429 || response_.status == 503; }

  Exchange& exchange_;
  SharedCounters& counters_;
  const std::uint64_t begin_ns_;
  HttpResponse response_;
  Verdict accepted_;
  std::string error_body_;
};

}  // namespace echoline::source
