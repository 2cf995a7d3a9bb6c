#include "plan/permutation.h"

#include <cmath>

namespace echoline::plan {
namespace {

constexpr std::uint64_t kSmall = 64;  // for fewer, 8 rounds were measurably uneven
constexpr std::uint32_t kRoundPairs = 4;
constexpr std::uint32_t kRoundPairsSmall = 8;

// The smallest a with a * a >= n. The loops correct the floating-point root, so that the order does
// not depend on the machine's rounding.
std::uint32_t root_ceil(std::uint64_t n) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  while (root * root < n) ++root;
  while (root > 1 && (root - 1) * (root - 1) >= n) --root;
  return static_cast<std::uint32_t>(root);
}

}  // namespace

Permutation::Permutation(std::uint64_t count, const OrderKey& key) : key_(key), count_(count) {
  if (count < 2) return;
  // The smallest rectangle that is nearly a square: it exceeds the range by less than one row.
  rows_ = root_ceil(count);
  columns_ = static_cast<std::uint32_t>((count + rows_ - 1) / rows_);
  round_pairs_ = count < kSmall ? kRoundPairsSmall : kRoundPairs;
}

}  // namespace echoline::plan
