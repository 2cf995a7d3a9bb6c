// Decides when an answer in flight is so slow that its missing part is requested again. Pure
// arithmetic; the caller passes the time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace echoline::source {

// The rates of the last bodies of one endpoint. If the whole store becomes slow, its bodies soon
// make the slow rate lower; until then, the budget of Hedging bounds the extra requests. Not
// thread-safe.
class BodyRates {
 public:
  static constexpr std::size_t kBodiesMax = 128;
  static constexpr std::size_t kBodiesMin = 8;          // before any answer counts as slow
  static constexpr std::uint64_t kBytesMin = 16 << 10;  // smaller bodies say nothing about rates
  // A small body may arrive at once, from the network's buffers. This bounds its rate.
  static constexpr std::uint64_t kTimeMinNs = 10'000'000;

  // A body of this size arrived within this time.
  void note_body(std::uint64_t bytes, std::uint64_t ns) {
    if (bytes < kBytesMin) return;
    rates_[bodies_ % kBodiesMax] =
        static_cast<double>(bytes) * 1e9 / static_cast<double>(std::max(ns, kTimeMinNs));
    ++bodies_;
  }

  // Bytes per second that 19 of 20 bodies exceeded; nothing until kBodiesMin bodies are known.
  std::optional<double> low_rate() const {
    if (bodies_ < kBodiesMin) return std::nullopt;
    auto sorted = rates_;
    const std::size_t count = std::min(bodies_, kBodiesMax);
    const auto p5 = sorted.begin() + static_cast<std::ptrdiff_t>(count / 20);
    std::nth_element(sorted.begin(), p5, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return *p5;
  }

 private:
  std::array<double, kBodiesMax> rates_{};
  std::size_t bodies_ = 0;
};

// How fast one body arrives: over the last half second to second. One thread.
class BodyPace {
 public:
  static constexpr std::uint64_t kWindowNs = 500'000'000;
  // A quarter of the low rate, and at least a second to wait: otherwise a second request gains
  // little.
  static constexpr double kSlowShare = 0.25;
  static constexpr std::uint64_t kLeftMinNs = 1'000'000'000;

  // Starts to measure: at the answer, and after a time in which nobody read.
  void restart(std::uint64_t now_ns, std::uint64_t bytes) {
    begin_ns_ = middle_ns_ = now_ns;
    begin_bytes_ = middle_bytes_ = bytes;
  }

  // Bytes per second; nothing within the first kWindowNs.
  std::optional<double> rate(std::uint64_t now_ns, std::uint64_t bytes) {
    if (now_ns < begin_ns_ + kWindowNs) return std::nullopt;
    const double rate =
        static_cast<double>(bytes - begin_bytes_) * 1e9 / static_cast<double>(now_ns - begin_ns_);
    if (now_ns >= middle_ns_ + kWindowNs) {
      begin_ns_ = middle_ns_;
      begin_bytes_ = middle_bytes_;
      middle_ns_ = now_ns;
      middle_bytes_ = bytes;
    }
    return rate;
  }

  static bool is_slow(double rate, double low_rate, std::uint64_t bytes_left) {
    const double left_s = static_cast<double>(bytes_left) / std::max(rate, 1.0);
    return rate < low_rate * kSlowShare && left_s * 1e9 > static_cast<double>(kLeftMinNs);
  }

 private:
  std::uint64_t begin_ns_ = 0;
  std::uint64_t begin_bytes_ = 0;
  std::uint64_t middle_ns_ = 0;  // where the next window begins
  std::uint64_t middle_bytes_ = 0;
};

}  // namespace echoline::source
