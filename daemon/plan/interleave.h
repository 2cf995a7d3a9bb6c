// Mixing passes evenly: of `all` rows that are left, `rows` belong to this pass; the j-th row of
// all is its own where floor((j + 1) * rows / all) steps up from floor(j * rows / all).
#pragma once

#include <cstdint>

namespace echoline::plan {

__extension__ typedef unsigned __int128 Uint128;

struct Quotient {
  std::uint64_t whole;
  std::uint64_t rest;
};

// a * b / c with a product of up to 128 bits; the quotient fits because a <= c.
inline Quotient multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (((a | b) >> 32) == 0) return {a * b / c, a * b % c};
  const Uint128 product = static_cast<Uint128>(a) * b;
  return {static_cast<std::uint64_t>(product / c), static_cast<std::uint64_t>(product % c)};
}

// Whether the row belongs to this pass, and how many of the rows before it do.
struct Taken {
  std::uint64_t before;
  bool here;
};

inline Taken taken_evenly(std::uint64_t place, std::uint64_t rows, std::uint64_t all) {
  const Quotient quotient = multiply_divide(place, rows, all);
  return {quotient.whole, quotient.rest + rows >= all};
}

// The pass comes first as a whole.
inline Taken taken_in_turn(std::uint64_t place, std::uint64_t rows) {
  return place < rows ? Taken{place, true} : Taken{rows, false};
}

}  // namespace echoline::plan
