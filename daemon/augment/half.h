// Converts float32 to float16 (IEEE 754): rounds half to even, overflows to infinity, keeps
// subnormals.
#pragma once

#include <bit>
#include <cstdint>

namespace echoline::augment {

constexpr std::uint16_t to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;   // not a number
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // rounds to more than 65504
  if (magnitude < 0x38800000) {                       // below 2^-14: steps of 2^-24
    const std::uint32_t shift = 126 - (magnitude >> 23);
    if (shift > 24) return sign;
    const std::uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
    const std::uint32_t half = 1U << (shift - 1);
    const std::uint32_t odd = mantissa >> shift & 1;
    return static_cast<std::uint16_t>(sign | (mantissa + half - 1 + odd) >> shift);
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000 + 0xFFF + odd) >> 13);
}

}  // namespace echoline::augment
