// How many durations fell into each bucket of a histogram, as Prometheus defines them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace echoline {

// The first bound, in seconds, that is not below the duration; past the last one: the rest.
template <std::size_t size>
std::size_t bucket_of(const std::array<double, size>& bounds, std::uint64_t ns) {
  const auto bound = std::lower_bound(bounds.begin(), bounds.end(), static_cast<double>(ns) * 1e-9);
  return static_cast<std::size_t>(bound - bounds.begin());
}

// A value. `kBounds`: a constant array of ascending bounds in seconds.
template <const auto& kBounds>
struct Histogram {
  std::array<std::uint64_t, kBounds.size() + 1> counts{};  // by bucket; the last is the rest
  std::uint64_t sum_ns = 0;

  // `times` durations of this length.
  void add(std::uint64_t ns, std::uint64_t times = 1) {
    counts[bucket_of(kBounds, ns)] += times;
    sum_ns += ns * times;
  }

  Histogram& operator+=(const Histogram& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum_ns += other.sum_ns;
    return *this;
  }
};

}  // namespace echoline
