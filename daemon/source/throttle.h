// Imitates a slower store: a line of a given rate that all requests share, and a delay before each.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/source.h"

namespace echoline::source {

// When bytes arrive over a line of `rate` bytes/s (0: unlimited) with `latency_ns` before a
// request's first byte: requests come one after the other in the order they were made, at full
// rate. Pure.
class Line {
 public:
  Line(std::uint64_t rate, std::uint64_t latency_ns) : rate_(rate), latency_ns_(latency_ns) {}

  // The time at which the last of `bytes` asked for at `now_ns` has arrived.
  std::uint64_t arrival_ns(std::uint64_t now_ns, std::uint64_t bytes);

 private:
  const std::uint64_t rate_;
  const std::uint64_t latency_ns_;
  std::uint64_t free_ns_ = 0;    // when the line has carried all that was asked for
  std::uint64_t remainder_ = 0;  // of the divisions, so that nothing is lost over time
};

// Threads as Source says. Requests go to the inner source at once; their results are held back
// until the line would have carried them. A held result keeps its slot.
class Throttle : public Source {
 public:
  Throttle(std::unique_ptr<Source> inner, std::uint64_t rate, std::uint64_t latency_ns);

  Result<std::vector<ObjectInfo>> list(const std::string& url) override;
  Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls) override;
  void submit(ReadRequest request) override;
  std::size_t slots_free() const override;
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override;
  void wake() override;
  Counters counters() const override;

 private:
  struct Held {
    std::uint64_t due_ns = 0;
    ReadResult result;
  };
  struct Pending {
    std::uint64_t tag = 0;
    std::uint64_t due_ns = 0;
  };

  void hold(std::vector<ReadResult>& results);
  void release(std::uint64_t now_ns, std::vector<ReadResult>& done);
  std::uint64_t next_due_ns() const;

  const std::unique_ptr<Source> inner_;
  const std::size_t slots_;
  Line line_;
  std::uint64_t next_id_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_;  // with the inner source, by our ids
  std::vector<Held> held_;
  std::vector<ReadResult> inner_done_;
  std::atomic<std::uint64_t> held_count_{0};
  std::atomic<bool> woken_{false};
};

}  // namespace echoline::source
