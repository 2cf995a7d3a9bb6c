// The inverse DCT of one block, without vector instructions: the definition of jpeg/idct.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "jpeg/markers.h"

namespace echoline::jpeg {

// Fixed-point constants of the algorithm, with 13 bits after the point: sums of cosines, which
// Loeffler, Ligtenberg and Moschytz (1989) multiply with. Each pair is one row of a rotation.
struct Rotations {
  static constexpr int kBits = 13;
  static constexpr int kSpareBits = 2;  // kept between the passes

  static constexpr int k541 = 4433;             // 0.541196100
  static constexpr int k541Minus1847 = -10704;  // 0.541196100 - 1.847759065
  static constexpr int k541Plus765 = 10703;     // 0.541196100 + 0.765366865
  static constexpr int k1175 = 9633;            // 1.175875602
  static constexpr int k1175Minus1961 = -6436;  // 1.175875602 - 1.961570560
  static constexpr int k1175Minus390 = 6437;    // 1.175875602 - 0.390180644
  static constexpr int k298Minus899 = -4927;    // 0.298631336 - 0.899976223
  static constexpr int kMinus899 = -7373;       // -0.899976223
  static constexpr int k2053Minus2562 = -4176;  // 2.053119869 - 2.562915447
  static constexpr int kMinus2562 = -20995;     // -2.562915447
  static constexpr int k3072Minus2562 = 4177;   // 3.072711026 - 2.562915447
  static constexpr int k1501Minus899 = 4926;    // 1.501321110 - 0.899976223
};

// 16-bit and 32-bit arithmetic with wrap-around, as vector instructions do it.
inline std::int32_t wrap16(std::int64_t value) { return static_cast<std::int16_t>(value); }
inline std::int32_t wrap32(std::int64_t value) { return static_cast<std::int32_t>(value); }

// One pass over eight values, which are `stride` apart. The sums lose kShift bits, rounded.
template <int kShift>
void idct_pass(std::array<std::int32_t, kBlockSamples>& values, std::size_t at,
               std::size_t stride) {
  using R = Rotations;
  const auto in = [&](std::size_t i) { return std::int64_t{values[at + i * stride]}; };
  const std::int64_t even = in(2) * R::k541 + in(6) * R::k541Minus1847;
  const std::int64_t even_more = in(2) * R::k541Plus765 + in(6) * R::k541;
  const std::int64_t sum = std::int64_t{wrap16(in(0) + in(4))} << R::kBits;
  const std::int64_t difference = std::int64_t{wrap16(in(0) - in(4))} << R::kBits;
  const std::int64_t evens[4] = {sum + even_more, difference + even, difference - even,
                                 sum - even_more};
  const std::int64_t z3 = wrap16(in(7) + in(3));
  const std::int64_t z4 = wrap16(in(5) + in(1));
  const std::int64_t common = z3 * R::k1175Minus1961 + z4 * R::k1175;
  const std::int64_t other = z3 * R::k1175 + z4 * R::k1175Minus390;
  const std::int64_t odds[4] = {in(7) * R::kMinus899 + in(1) * R::k1501Minus899 + other,
                                in(5) * R::kMinus2562 + in(3) * R::k3072Minus2562 + common,
                                in(5) * R::k2053Minus2562 + in(3) * R::kMinus2562 + other,
                                in(7) * R::k298Minus899 + in(1) * R::kMinus899 + common};
  const auto reduced = [](std::int64_t value) {
    const std::int32_t rounded = wrap32(value + (std::int64_t{1} << (kShift - 1))) >> kShift;
    return std::clamp(rounded, -32768, 32767);
  };
  for (std::size_t i = 0; i < 4; ++i) {
    values[at + i * stride] = reduced(evens[i] + odds[i]);
    values[at + (7 - i) * stride] = reduced(evens[i] - odds[i]);
  }
}

// `coefficients` are in natural order, `steps` are those of the quantization table.
inline void idct_block_plain(const std::int16_t* coefficients, const std::int16_t* steps,
                             std::uint8_t* out, std::size_t stride) {
  constexpr int kFirstShift = Rotations::kBits - Rotations::kSpareBits;
  constexpr int kSecondShift = Rotations::kBits + Rotations::kSpareBits + 3;
  std::array<std::int32_t, kBlockSamples> values;
  bool flat = true;  // all columns are constant
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    values[i] = wrap16(std::int64_t{coefficients[i]} * steps[i]);
    flat = flat && (i < 8 || coefficients[i] == 0);
  }
  for (std::size_t x = 0; x < 8; ++x) {
    if (flat) {
      // The same, except for values that don't fit: libjpeg-turbo doesn't clamp them here.
      const std::int32_t value = wrap16(std::int64_t{values[x]} << Rotations::kSpareBits);
      for (std::size_t y = 0; y < 8; ++y) values[x + 8 * y] = value;
    } else {
      idct_pass<kFirstShift>(values, x, 8);
    }
  }
  for (std::size_t y = 0; y < 8; ++y) {
    idct_pass<kSecondShift>(values, 8 * y, 1);
    for (std::size_t x = 0; x < 8; ++x) {
      out[y * stride + x] = static_cast<std::uint8_t>(std::clamp(values[8 * y + x] + 128, 0, 255));
    }
  }
}

}  // namespace echoline::jpeg
