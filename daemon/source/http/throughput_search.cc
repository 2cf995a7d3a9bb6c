#include "source/http/throughput_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace echoline::source {

void ThroughputSearch::set_cap(std::size_t cap) {
  const std::size_t more = cap > cap_ ? cap - cap_ : 0;
  cap_ = cap;
  // Long answers begin again with few requests; short ones may use the new room at once, as far as
  // they need it.
  begin_at(kind_.is_short() ? std::min(limit_ + more, std::max(limit_, short_start()))
                            : std::max(limit_, start_));
}

LearnedLimit ThroughputSearch::learned() const {
  if (kind_.is_short() || rate_ == 0) return {};
  return {.limit = before_ != 0 ? before_ : limit_,
          .bytes_per_second = static_cast<std::uint64_t>(1e9 * rate_)};
}

void ThroughputSearch::begin_at(std::size_t limit) {
  before_ = 0;
  // The direction in which most stores improve for this size (see the header).
  downwards_ = kind_.is_short();
  step_ = kind_.is_short() ? kFirstStep : kStep;
  rate_ = 0;
  rest_ = 0;
  next_rest_ = 1;
  set_limit(std::min(limit, cap_));
}

std::size_t ThroughputSearch::short_start() const {
  if (long_rate_ == 0 || latency_ns_ == 0) return cap_;
  const double requests =
      std::ceil(2 * long_rate_ * static_cast<double>(latency_ns_) / short_bytes_);
  return static_cast<std::size_t>(
      std::min(std::max(requests, static_cast<double>(start_)), static_cast<double>(cap_)));
}

void ThroughputSearch::use_all() {
  if (limit_ != cap_) begin_at(cap_);
  window_ = {};
}

void ThroughputSearch::set_limit(std::size_t limit) {
  // Requests in flight began under the old limit, so their ends do not count.
  settling_ = std::max(limit_, limit);
  limit_ = limit;
  first_rate_ = 0;
  window_ = {};
}

void ThroughputSearch::go_back() {
  if (before_ != 0) set_limit(before_);
  before_ = 0;
}

void ThroughputSearch::note_disturbance() {
  // The trial would be judged by a rate that has another cause.
  go_back();
  window_ = {};
}

std::size_t ThroughputSearch::fewest(double rate) const {
  const double in_flight = rate * static_cast<double>(latency_ns_);  // bytes
  const auto requests =
      static_cast<std::size_t>(std::ceil(in_flight / std::min(kind_.mean_bytes(), kShortestBytes)));
  return std::min(std::max(requests, kLimitMin), cap_);
}

void ThroughputSearch::ended(const AnswerSeen& answer, std::size_t in_flight, bool wanted,
                             std::uint64_t now_ns) {
  // Small answers are look-ups, whose rate says nothing.
  if (answer.bytes < kRatedMin) return;
  if (kind_.note(answer.bytes, now_ns)) {
    if (!kind_.is_short()) return begin_at(start_);
    short_bytes_ = static_cast<double>(answer.bytes);
    return begin_at(short_start());
  }
  if (answer.waited_ns != 0 && (latency_ns_ == 0 || answer.waited_ns < latency_ns_)) {
    latency_ns_ = answer.waited_ns;
  }
  if (kind_.mean_bytes() < kTinyBytes) return use_all();
  if (settling_ > 0) {
    // With low demand there are fewer requests from before the change than counted.
    settling_ = std::min(settling_, in_flight) - 1;
    return;
  }
  if (in_flight <= 1) {
    window_ = {};  // idle time says nothing about the store
    return;
  }
  // The first end only starts the window: its bytes arrived before.
  if (window_.begin_ns == 0) {
    window_.begin_ns = now_ns;
    return;
  }
  window_.bytes += answer.bytes;
  ++window_.ends;
  window_.wanted += wanted ? 1 : 0;
  window_.most = std::max(window_.most, in_flight);
  window_.in_flight += in_flight;
  const std::uint64_t took_ns = now_ns - window_.begin_ns;
  // Long enough, and at least two answers for each request in flight.
  if (took_ns < kWindowNs || window_.ends < 2 * window_.most) return;
  const Window whole = window_;
  window_ = {.begin_ns = now_ns};
  // Less than 80 % demand: the rate shows the consumer, not the store.
  if (whole.wanted * 5 < whole.ends * 4) return go_back();
  const double rate = static_cast<double>(whole.bytes) / static_cast<double>(took_ns);
  note_rate(whole, rate, now_ns);
  close(rate, whole.most);
}

void ThroughputSearch::note_rate(const Window& window, double rate, std::uint64_t now_ns) {
  const auto ends = static_cast<double>(window.ends);
  rates_[kind_.is_short() ? 1 : 0].add({.in_flight = static_cast<double>(window.in_flight) / ends,
                                        .bytes_per_second = 1e9 * rate,
                                        .answer_bytes = static_cast<double>(window.bytes) / ends,
                                        .last_ns = now_ns});
}

void ThroughputSearch::close(double rate, std::size_t most) {
  // A trial is running: this window decides about it.
  if (before_ != 0) {
    judge(rate);
    if (before_ != 0 || rest_ > 0) return;  // not decided yet, or failed
    rate_ = rate;
  } else if (rate < kFallenShare * rate_) {
    // The rate has dropped without a change of the limit: search again, upwards first.
    rest_ = 0;
    next_rest_ = 1;
    downwards_ = false;
  }
  if (rate_ == 0 && latency_ns_ != 0) downwards_ = true;  // try_limit() spares a distant store
  // Smoothed, because the rate of a window is noisy; but not where it shows that more are needed.
  rate_ = rate_ == 0 || limit_ < fewest(rate) ? rate : (rate_ + rate) / 2;
  if (!kind_.is_short()) long_rate_ = rate_;
  if (limit_ < fewest(rate_)) {
    set_limit(fewest(rate_));
  } else if (rest_ > 0) {
    --rest_;
  } else {
    try_limit(most);
  }
}

void ThroughputSearch::judge(double rate) {
  // A smaller limit wins ties, a larger one must be clearly better.
  const bool fewer = limit_ < before_;
  // Only the first trial of a search takes a large step.
  step_ = kStep;
  const double mean = first_rate_ == 0 ? rate : (first_rate_ + rate) / 2;
  if (mean >= rate_ * (fewer ? kKeepShare : kGainShare)) {
    // Fewer requests need a second window; `first_rate_` keeps the first one.
    if (fewer && std::exchange(first_rate_, rate) == 0) return;
    before_ = 0;
    next_rest_ = 1;
    return;
  }
  go_back();
  // Next time in the other direction.
  downwards_ = !fewer;
  // Failed trials become rarer, up to kRestMax windows apart.
  rest_ = next_rest_;
  next_rest_ = std::min(next_rest_ * 2, kRestMax);
}

void ThroughputSearch::try_limit(std::size_t most) {
  // A larger limit is not allowed, or changes nothing because this one was not used up.
  if (most < limit_ || limit_ == cap_) downwards_ = true;
  const std::size_t now = std::min(limit_, most);
  const std::size_t fewer = std::max(now / step_, fewest(rate_));
  // Too close to the minimum for a step down.
  if (now < kStep * fewer) downwards_ = false;
  const std::size_t next = downwards_ ? fewer : std::min(limit_ * kStep, cap_);
  if (next == limit_) return;
  before_ = limit_;
  set_limit(next);
}

}  // namespace echoline::source
