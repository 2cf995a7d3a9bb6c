// How many requests a store is given at once: grows while it takes them, shrinks when it asks for
// fewer. Pure arithmetic; its times are the caller's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace echoline::source {

// Additive increase, multiplicative decrease, by windows of kWindowNs. A window with refusals takes
// off half their share of the answers, so that a store which refuses everything halves the limit
// and one that refuses a few costs little. Each calm window doubles the step up: from the floor to
// the cap takes about two seconds. Not thread safe.
class AdaptiveLimit {
 public:
  static constexpr std::uint64_t kWindowNs = 250'000'000;

  // A higher cap is room at once: what was never refused needs no trying.
  void set_cap(double cap) {
    limit_ = cap > cap_ ? limit_ + (cap - cap_) : std::min(limit_, cap);
    cap_ = cap;
    calm();
  }

  std::size_t limit() const { return static_cast<std::size_t>(std::max(limit_, 1.0)); }
  // Refusals are not forgotten yet.
  bool is_reduced() const { return limit_ < cap_; }

  void good(std::uint64_t now_ns) {
    ++good_;
    close_window(now_ns);
  }

  // The store asked for fewer, or let a request wait too long.
  void refused(std::uint64_t now_ns) {
    ++refused_;
    close_window(now_ns);
  }

 private:
  double floor() const { return std::max(1.0, cap_ / 8); }
  void calm() { step_ = std::max(0.25, cap_ / 32); }

  void close_window(std::uint64_t now_ns) {
    if (window_end_ns_ == 0) window_end_ns_ = now_ns + kWindowNs;
    if (now_ns < window_end_ns_) return;
    const double share = static_cast<double>(refused_) / static_cast<double>(refused_ + good_);
    if (refused_ > 0) calm();
    limit_ = std::clamp(limit_ * (1 - share / 2) + step_ * (1 - share), floor(), cap_);
    if (refused_ == 0) step_ = std::min(step_ * 2, cap_);
    good_ = refused_ = 0;
    window_end_ns_ = now_ns + kWindowNs;
  }

  double cap_ = 0;
  double limit_ = 0;
  double step_ = 0.25;
  std::uint64_t good_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t window_end_ns_ = 0;
};

}  // namespace echoline::source
