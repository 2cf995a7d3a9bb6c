// Simulates a slower store: a link of a given rate that all requests share, a delay before each
// request, and a rate per connection.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/core/forwarding_source.h"

namespace echoline::v1 {
class Throttle;
}

namespace echoline::source {

struct LinkOptions {
  std::uint64_t rate = 0;             // bytes/s of all requests together; 0: unlimited
  std::uint64_t latency_ns = 0;       // before the first byte; the median if latency_p99_ns is set
  std::uint64_t latency_p99_ns = 0;   // makes the delays log-normal; 0: constant delay
  std::uint64_t connection_rate = 0;  // bytes/s of one request; 0: unlimited
};

// When bytes arrive over such a link. Requests share the rate in their order; none arrives sooner
// than its own delay and connection rate allow. The same requests get the same delays in every run.
// Pure.
class SimulatedLink {
 public:
  explicit SimulatedLink(LinkOptions options) : options_(options) {}

  // When the last of `bytes` arrives that are requested at `now_ns`.
  std::uint64_t arrival_ns(std::uint64_t now_ns, std::uint64_t bytes);
  // The delay of the request that was made last.
  std::uint64_t latency_ns() const { return latency_ns_; }

 private:
  // The delay of the next request.
  std::uint64_t next_latency_ns();
  // When the shared rate has transferred the bytes.
  std::uint64_t carried_ns(std::uint64_t first_byte_ns, std::uint64_t bytes);

  const LinkOptions options_;
  std::uint32_t draws_ = 0;
  std::uint64_t latency_ns_ = 0;
  std::uint64_t free_ns_ = 0;    // when the link has transferred all requests so far
  std::uint64_t remainder_ = 0;  // of the divisions, so that rounding errors do not add up
};

// Threads as Source says. Requests go to the inner source at once; their results are held until the
// link would have delivered them. A held result keeps its slot: slots are connections.
class Throttle : public ForwardingSource {
 public:
  Throttle(std::unique_ptr<Source> inner, LinkOptions options);

  // The inner source itself if nothing is throttled. kInvalidArgument if the options contradict
  // each other.
  static Result<std::unique_ptr<Source>> over(std::unique_ptr<Source> inner,
                                              const v1::Throttle& throttle);

  void submit(ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  void wake() override;
  // Request times and waits are those of the simulated store.
  Counters counters() const override;
  // The simulated store has no endpoint, and the rates of the real one are not those of the stream.
  std::vector<EndpointRates> rates() const override { return {}; }

 private:
  struct Pending {
    std::uint64_t tag = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t latency_ns = 0;
    std::uint64_t due_ns = 0;
  };
  struct Held {
    Pending request;
    ReadResult result;
  };

  // Takes results of the inner source and notes when the link would deliver them.
  void hold(std::vector<ReadResult>& results, std::uint64_t now_ns);
  // Delivers the held results that are due.
  void release(std::uint64_t now_ns, std::vector<ReadResult>& done);
  // When the next held result is due; UINT64_MAX if there is none.
  std::uint64_t next_due_ns() const;

  const std::size_t slots_;
  SimulatedLink link_;
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_;  // in flight with the inner source, by id
  std::vector<Held> held_;
  std::vector<ReadResult> inner_done_;
  SharedCounters imitated_;  // in_flight counts held results; also times and waits
  std::atomic<bool> woken_{false};
};

}  // namespace echoline::source
