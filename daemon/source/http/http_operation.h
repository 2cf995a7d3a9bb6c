// One thing to be had from a store, over as many attempts as it takes: the words and judgement of a
// protocol, without its transport (exchanges.h).
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>

#include "base/status.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// What an attempt came to: ok, worth another attempt, or final.
struct Verdict {
  Status status;
  bool retry = false;
};

// Owned and called by one HttpOperations, on its thread; each attempt is ready, request, accept,
// consume*, complete. Before accept, ready and request may come a second time and ask for the same;
// what follows is of one of the two answers.
class HttpOperation {
 public:
  virtual ~HttpOperation() = default;

  // Whether request() may be called: ok, worth asking again in a moment, or final.
  virtual Verdict ready(std::time_t) { return {}; }

  // The request of the next attempt, signed for the time `now`; goes on where the last one stopped.
  virtual HttpRequest request(std::time_t now) = 0;

  // The headers of a 2xx response.
  virtual Verdict accept(const HttpResponse& response) = 0;

  // A piece of its body; false when no more is needed.
  virtual bool consume(std::span<const std::byte> bytes) = 0;

  // The end of its body.
  virtual Verdict complete() = 0;

  // Any other response, with the start of its body.
  virtual Verdict refuse(const HttpResponse& response, std::string_view body) = 0;

  // Bytes had so far that a next attempt won't read again: progress, for the time-out.
  virtual std::uint64_t progress() const = 0;

  // Whether a second request for it may be under way beside a late first one.
  virtual bool may_be_hedged() const { return true; }

  // Names what was wanted, for messages: "s3://bucket/key".
  virtual std::string what() const = 0;
};

}  // namespace echoline::source
