// How many requests a store may have in flight: grows while the store accepts them, shrinks when it
// refuses some. Pure arithmetic; the caller passes the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace echoline::source {

// Additive increase, multiplicative decrease, in windows of kWindowNs. A window with refusals
// reduces the limit by half of the refused share, so that a store that refuses everything halves
// the limit, and one that refuses a few changes it little. Each window without refusals doubles the
// step up: from the floor to the cap takes about two seconds. Not thread-safe.
class AdaptiveLimit {
 public:
  static constexpr std::uint64_t kWindowNs = 250'000'000;

  // A higher cap is usable at once: the store has never refused that many.
  void set_cap(double cap) {
    limit_ = cap > cap_ ? limit_ + (cap - cap_) : std::min(limit_, cap);
    cap_ = cap;
    reset_step();
  }

  std::size_t limit() const { return static_cast<std::size_t>(std::max(limit_, 1.0)); }
  // Whether past refusals still lower the limit.
  bool is_reduced() const { return limit_ < cap_; }

  void good(std::uint64_t now_ns) {
    ++good_;
    close_window(now_ns);
  }

  // The store asked for fewer requests, or let one wait too long.
  void refused(std::uint64_t now_ns) {
    ++refused_;
    close_window(now_ns);
  }

 private:
  double floor() const { return std::max(1.0, cap_ / 8); }
  // Resets the step up to its smallest size.
  void reset_step() { step_ = std::max(0.25, cap_ / 32); }

  void close_window(std::uint64_t now_ns) {
    if (window_end_ns_ == 0) window_end_ns_ = now_ns + kWindowNs;
    if (now_ns < window_end_ns_) return;
    const double share = static_cast<double>(refused_) / static_cast<double>(refused_ + good_);
    if (refused_ > 0) reset_step();
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
