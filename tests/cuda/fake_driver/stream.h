// Streams as threads, each with a queue of operations; and records of events.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {

struct Context;
struct Driver;

// One recording of an event; complete when its stream has reached it. Recording the event again
// makes a new one. A stream that waited before still waits for the old one, as in CUDA.
struct Record {
  bool complete = false;
  std::chrono::steady_clock::time_point when;
};

struct Event {
  std::weak_ptr<Context> context;
  bool timed;
  std::shared_ptr<Record> latest;  // null: never recorded
};

struct HostRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool overlaps(const HostRange& other) const { return begin < other.end && other.begin < end; }
  bool contains(const HostRange& other) const { return begin <= other.begin && other.end <= end; }
};
inline HostRange host_range(const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  return {at, at + bytes};
}

// Lets a part of an operation's time pass. False: the context is lost, the operation must stop.
using Pause = std::function<bool(std::chrono::microseconds)>;

struct Operation {
  std::shared_ptr<Record> awaited = {};        // may be null; must be complete first
  std::function<Code(const Pause&)> run = {};  // may be null; called without the mutex
  std::shared_ptr<Record> record = {};         // may be null; complete after `run`
  HostRange host = {};                         // of pinned memory that `run` reads or writes
  bool internal = false;                       // no caller asked for it
};

// All members are guarded by the driver's mutex. A closed stream ends when its queue is empty; its
// thread keeps it alive until then.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Driver& driver, std::shared_ptr<Context> of, bool is_blocking)
      : context(std::move(of)), blocking(is_blocking), driver_(driver) {}

  void start();
  void push(Operation operation);
  void close();
  // Operations that callers enqueued and that are not complete.
  std::size_t pending() const;
  // The number of operations that were enqueued, and of those that are complete.
  std::uint64_t given() const { return complete_ + queue_.size(); }
  std::uint64_t complete() const { return complete_; }
  bool uses(const HostRange& range) const;

  const std::shared_ptr<Context> context;
  const bool blocking;  // it and the default stream wait for each other
  bool stuck = false;
  int capture = client::cuda::kCaptureNone;

 private:
  void serve();
  void complete_first(std::unique_lock<std::mutex>& lock);

  Driver& driver_;
  std::deque<Operation> queue_;  // the first one runs
  std::uint64_t complete_ = 0;
  bool closed_ = false;
};

}  // namespace echoline::cuda_test
