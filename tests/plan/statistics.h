// Chi-square and correlation, for tests of randomness. With a fixed seed, a test always passes or
// always fails.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace echoline::plan::testing {

// By how many standard deviations the chi-square over equally likely cells exceeds its mean, with
// the cube root approximation of Wilson and Hilferty (1931). More than 5: not uniform; less than
// -5: too even to be random.
inline double chi_square_deviation(std::span<const std::uint64_t> counts) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double chi = 0;
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    chi += off * off / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(chi / freedom) - (1 - spread)) / std::sqrt(spread);
}

inline double correlation(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  double mean_a = 0, mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += static_cast<double>(a[i]) / static_cast<double>(a.size());
    mean_b += static_cast<double>(b[i]) / static_cast<double>(a.size());
  }
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = static_cast<double>(a[i]) - mean_a, db = static_cast<double>(b[i]) - mean_b;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace echoline::plan::testing
