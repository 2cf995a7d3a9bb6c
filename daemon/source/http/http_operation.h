// One operation on a store, such as a read or a listing, over as many attempts as it needs: builds
// the requests and judges the answers. The transport and the retries are HttpOperations'.
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>

#include "base/status.h"
#include "source/http/http_transfers.h"

namespace echoline::source {

// The result of an attempt: ok, worth a retry, or a final error.
struct Verdict {
  Status status;
  bool retry = false;
  // The retry goes to another address: no failure, so it is sent without a pause.
  bool at_once = false;
};

// Owned and called by one HttpOperations, on its thread. Each attempt calls ready, request, accept,
// consume*, complete, or refuse. A hedge calls ready and request a second time before accept; the
// later calls belong to only one of the two answers. A replacement calls ready and request between
// two calls of consume, and then perhaps accept: from there on, consume belongs to its answer.
class HttpOperation {
 public:
  virtual ~HttpOperation() = default;

  // Whether request() may be called now: ok, retry in a moment, or a final error.
  virtual Verdict ready(std::time_t) { return {}; }

  // The request of the next attempt, signed for the time `now`. It continues where the last one
  // stopped.
  virtual HttpRequest request(std::time_t now) = 0;

  // Takes the headers of a 2xx response. With an error, nothing has changed.
  virtual Verdict accept(const HttpResponse& response) = 0;

  // Takes a piece of its body; false if no more is needed.
  virtual bool consume(std::span<const std::byte> bytes) = 0;

  // Takes the end of its body.
  virtual Verdict complete() = 0;

  // Judges any other response, with the start of its body.
  virtual Verdict refuse(const HttpResponse& response, std::string_view body) = 0;

  // Bytes received so far that a later attempt will not request again: progress, for the time-out.
  virtual std::uint64_t progress() const = 0;

  // Whether a late request may be sent a second time.
  virtual bool may_be_hedged() const { return true; }

  // Bytes that have not arrived, so that a slow answer can be replaced. 0: never.
  virtual std::uint64_t bytes_left() const { return 0; }

  // Whether the operation has its answer with this status: else it counts as failed.
  virtual bool is_answer(const Status& status) const { return status.ok(); }

  // The object of the operation, for messages: "s3://bucket/key".
  virtual std::string what() const = 0;
};

}  // namespace echoline::source
