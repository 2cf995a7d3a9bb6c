// Results are released in the order their bytes arrive over the imagined line, whatever the inner
// order.
#include "source/throttle.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"

namespace echoline::source {

std::uint64_t Line::arrival_ns(std::uint64_t now_ns, std::uint64_t bytes) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  const std::uint64_t first_byte_ns = now_ns + latency_ns_;
  if (rate_ == 0) return first_byte_ns;
  if (first_byte_ns > free_ns_) {
    free_ns_ = first_byte_ns;
    remainder_ = 0;
  }
  free_ns_ += bytes / rate_ * kSecondNs;
  // bytes % rate * 1e9 fits 64 bits up to 18 GB/s; above, the line is fast enough to be coarse.
  const std::uint64_t unit = rate_ > UINT64_MAX / kSecondNs / 2 ? 1'000 : 1;
  const std::uint64_t part = bytes % rate_ / unit * kSecondNs + remainder_;
  free_ns_ += part / (rate_ / unit);
  remainder_ = part % (rate_ / unit);
  return free_ns_;
}

Throttle::Throttle(std::unique_ptr<Source> inner, std::uint64_t rate, std::uint64_t latency_ns)
    : inner_(std::move(inner)), slots_(inner_->slots_free()), line_(rate, latency_ns) {}

Result<std::vector<ObjectInfo>> Throttle::list(const std::string& url) { return inner_->list(url); }

Result<std::vector<ObjectInfo>> Throttle::list_all(const std::vector<std::string>& urls) {
  return inner_->list_all(urls);
}

void Throttle::submit(ReadRequest request) {
  ECHOLINE_CHECK(slots_free() > 0);
  std::uint64_t bytes = 0;
  if (!request.segments.empty()) {
    const Segment& last = request.segments.back();
    bytes = last.offset + last.destination.size() - request.segments.front().offset;
  }
  const std::uint64_t id = next_id_++;
  pending_[id] = {request.tag, line_.arrival_ns(monotonic_ns(), bytes)};
  request.tag = id;
  inner_->submit(std::move(request));
}

std::size_t Throttle::slots_free() const {
  return slots_ - std::min(slots_, pending_.size() + held_.size());
}

void Throttle::poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) {
  const std::size_t before = done.size();
  bool woken = false;
  do {
    inner_done_.clear();
    inner_->poll(std::min(deadline_ns, next_due_ns()), inner_done_);
    hold(inner_done_);
    release(monotonic_ns(), done);
    woken = woken_.exchange(false);
  } while (done.size() == before && !woken && monotonic_ns() < deadline_ns);
}

void Throttle::hold(std::vector<ReadResult>& results) {
  for (ReadResult& result : results) {
    const Pending pending = pending_.extract(result.tag).mapped();
    held_.push_back({pending.due_ns, {pending.tag, std::move(result.status)}});
  }
  std::sort(held_.begin(), held_.end(),
            [](const Held& a, const Held& b) { return a.due_ns < b.due_ns; });
}

void Throttle::release(std::uint64_t now_ns, std::vector<ReadResult>& done) {
  const auto due = std::find_if(held_.begin(), held_.end(),
                                [now_ns](const Held& held) { return held.due_ns > now_ns; });
  for (auto at = held_.begin(); at != due; ++at) done.push_back(std::move(at->result));
  held_.erase(held_.begin(), due);
  held_count_ = held_.size();
}

std::uint64_t Throttle::next_due_ns() const {
  return held_.empty() ? UINT64_MAX : held_.front().due_ns;
}

void Throttle::wake() {
  woken_ = true;
  inner_->wake();
}

Counters Throttle::counters() const {
  Counters counters = inner_->counters();
  counters.in_flight += held_count_;
  return counters;
}

}  // namespace echoline::source
