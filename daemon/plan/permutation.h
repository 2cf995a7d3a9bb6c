// A keyed permutation of [0, count) without a table: a Feistel network over a rectangle slightly
// larger than the range. A result outside the range is permuted again until it is inside (cycle
// walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
#pragma once

#include <cstdint>

#include "plan/order_key.h"

namespace echoline::plan {

// A value of 48 bytes; cheap to create; any thread may call it. `operator()` takes the same time
// for nearly all arguments: the rectangle exceeds the range by less than one row, so a second round
// is rare.
class Permutation {
 public:
  Permutation() = default;  // of one element
  Permutation(std::uint64_t count, const OrderKey& key);

  std::uint64_t count() const { return count_; }

  // The image of `place`, which is below count().
  std::uint64_t operator()(std::uint64_t place) const {
    if (count_ < 2) return place;
    do {
      place = once(place);
    } while (place >= count_);
    return place;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd

  // A number in [0, range), uniform over the keys. Two multiplications mix the bits; the third maps
  // the top 32 bits to the range (Lemire, "Fast Random Integer Generation in an Interval", 2019).
  std::uint32_t draw(std::uint32_t half, std::uint64_t round_key, std::uint32_t range) const {
    std::uint64_t word = (round_key ^ half) * 0xD6E8FEB86659FD93;
    word = (word ^ (word >> 32) ^ key_.second) * 0xA0761D6478BD642F;
    return static_cast<std::uint32_t>((word >> 32) * range >> 32);
  }

  static std::uint32_t add(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
    const std::uint32_t sum = a + b;  // both below 2^31
    return sum >= modulus ? sum - modulus : sum;
  }

  // One pass through the Feistel network; the result may be count() or more.
  std::uint64_t once(std::uint64_t place) const {
    auto left = static_cast<std::uint32_t>(place / columns_);
    auto right = static_cast<std::uint32_t>(place - std::uint64_t{left} * columns_);
    std::uint64_t round_key = key_.first;
    for (std::uint32_t pair = 0; pair < round_pairs_; ++pair) {
      left = add(left, draw(right, round_key, rows_), rows_);
      right = add(right, draw(left, round_key + kGolden, columns_), columns_);
      round_key += 2 * kGolden;
    }
    return std::uint64_t{left} * columns_ + right;
  }

  OrderKey key_;
  std::uint64_t count_ = 1;
  std::uint32_t rows_ = 1;  // rows_ * columns_ >= count_
  std::uint32_t columns_ = 1;
  std::uint32_t round_pairs_ = 0;
};

}  // namespace echoline::plan
