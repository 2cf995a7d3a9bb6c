#include "trace/recorder.h"

#include <algorithm>
#include <utility>

namespace echoline::trace {

std::atomic<int>& Recorder::recorders_on() {
  static std::atomic<int> count{0};
  return count;
}

std::uint64_t& idle_since_ns() {
  thread_local std::uint64_t since_ns = 0;
  return since_ns;
}

Recorder::~Recorder() {
  const MutexLock lock(mutex_);
  if (on()) end();
}

std::uint64_t Recorder::start(std::uint64_t until_ns) {
  const MutexLock lock(mutex_);
  if (on() && monotonic_ns() > until_ns_) end();
  if (on()) return 0;
  on_.store(true);
  recorders_on().fetch_add(1);
  until_ns_ = until_ns;
  return ++trace_;
}

void Recorder::stop(std::uint64_t trace) {
  const MutexLock lock(mutex_);
  if (is_on(trace)) end();
}

void Recorder::end() {
  on_.store(false);
  recorders_on().fetch_sub(1);
  spans_ = {};
  trainers_.clear();
  dropped_ = 0;
}

void Recorder::add(std::span<const Span> spans) {
  const MutexLock lock(mutex_);
  // Asked again: the trace may have ended since the caller looked.
  if (!on()) return;
  if (monotonic_ns() > until_ns_) return end();
  const std::size_t taken = std::min(spans.size(), kSpansMax - spans_.size());
  spans_.insert(spans_.end(), spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(taken));
  dropped_ += spans.size() - taken;
}

void Recorder::name_trainer(std::uint32_t track, std::string name) {
  const MutexLock lock(mutex_);
  if (on()) trainers_[track] = std::move(name);
}

Recorder::Taken Recorder::take(std::uint64_t trace) {
  std::vector<Span> next;
  next.reserve(kSpansMax / 8);  // not under the lock: the workers add spans
  const MutexLock lock(mutex_);
  if (!is_on(trace)) return {};
  Taken taken{.spans = std::move(spans_), .trainers = std::move(trainers_), .dropped = dropped_};
  spans_ = std::move(next);
  trainers_.clear();
  dropped_ = 0;
  return taken;
}

}  // namespace echoline::trace
