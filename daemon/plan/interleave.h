// Mixes passes evenly. Of `all` remaining rows, `rows` belong to this pass: row j belongs to it if
// floor((j + 1) * rows / all) > floor(j * rows / all), as in Bresenham's line algorithm.
#pragma once

#include <cstdint>

namespace echoline::plan {

__extension__ typedef unsigned __int128 Uint128;

struct Quotient {
  std::uint64_t whole;
  std::uint64_t rest;
};

// a * b / c with a product of up to 128 bits. The quotient fits 64 bits because a <= c.
inline Quotient multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (((a | b) >> 32) == 0) return {a * b / c, a * b % c};
  const Uint128 product = static_cast<Uint128>(a) * b;
  return {static_cast<std::uint64_t>(product / c), static_cast<std::uint64_t>(product % c)};
}

// Whether a row belongs to this pass, and how many rows before it do.
struct Taken {
  std::uint64_t before;
  bool here;
};

inline Taken taken_evenly(std::uint64_t place, std::uint64_t rows, std::uint64_t all) {
  const Quotient quotient = multiply_divide(place, rows, all);
  return {quotient.whole, quotient.rest + rows >= all};
}

// For passes that are not mixed: all rows of this pass come first.
inline Taken taken_in_turn(std::uint64_t place, std::uint64_t rows) {
  return place < rows ? Taken{place, true} : Taken{rows, false};
}

}  // namespace echoline::plan
