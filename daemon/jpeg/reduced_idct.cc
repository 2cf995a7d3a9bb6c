// The loops are compiled once for each kind of CPU, with Highway; the compiler makes vectors of the
// passes over columns.
#include "jpeg/reduced_idct.h"

#include <algorithm>
#include <cstring>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/reduced_idct.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef ECHOLINE_JPEG_REDUCED_IDCT_ONCE
#define ECHOLINE_JPEG_REDUCED_IDCT_ONCE
namespace echoline::jpeg {

inline constexpr int kFactorBits = 13;
inline constexpr int kSpare = 2;  // bits after the point between the passes

// The share of coefficient u in the mean of neighbours: 2^13 c cos(u pi / 16) cos((2 k + 1) u pi /
// 8) for pairs, with c = 2 sqrt(2). The means have no share of coefficient 4.
struct Halves {
  static constexpr int kExtraBits = 1;  // the factor of coefficient 0 is 2^14
  static constexpr std::int32_t k2 = 15137;
  static constexpr std::int32_t k6 = -6270;
  static constexpr std::int32_t kOuter[4] = {20995, 7373, -4926, -4176};   // of 1, 3, 5, 7
  static constexpr std::int32_t kInner[4] = {8697, -17799, 11893, -1730};  // of 1, 3, 5, 7
};

// The same for groups of four, with c = 4 sqrt(2) and cos(u pi / 16) cos(u pi / 8) cos((2 k + 1) u
// pi / 4): only odd coefficients count.
struct Quarters {
  static constexpr int kExtraBits = 2;
  static constexpr std::int32_t kOdd[4] = {29692, -10426, 6967, -5906};
};

// Damaged files have any coefficients; their sums wrap.
inline std::uint32_t product(std::int32_t value, std::int32_t factor) {
  return static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(factor);
}

inline std::int32_t rounded(std::uint32_t sum, int bits) {
  return static_cast<std::int32_t>(sum + (1U << (bits - 1))) >> bits;
}

inline std::uint32_t odd_sum(const std::int32_t (&factors)[4], std::int32_t v1, std::int32_t v3,
                             std::int32_t v5, std::int32_t v7) {
  return product(v1, factors[0]) + product(v3, factors[1]) + product(v5, factors[2]) +
         product(v7, factors[3]);
}

}  // namespace echoline::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

HWY_INLINE std::int32_t dequantized(const std::int16_t* block, const Steps& steps, std::size_t at) {
  return static_cast<std::int16_t>(block[at] * steps[at]);
}

// Eight coefficients or intermediate values become four.
HWY_INLINE void halve(const std::int32_t (&v)[8], int bits, std::int32_t (&out)[4]) {
  using F = Halves;
  const std::uint32_t first = product(v[0], 1 << (kFactorBits + F::kExtraBits));
  const std::uint32_t even = product(v[2], F::k2) + product(v[6], F::k6);
  const std::uint32_t outer = odd_sum(F::kOuter, v[1], v[3], v[5], v[7]);
  const std::uint32_t inner = odd_sum(F::kInner, v[1], v[3], v[5], v[7]);
  out[0] = rounded(first + even + outer, bits + F::kExtraBits);
  out[1] = rounded(first - even + inner, bits + F::kExtraBits);
  out[2] = rounded(first - even - inner, bits + F::kExtraBits);
  out[3] = rounded(first + even - outer, bits + F::kExtraBits);
}

HWY_INLINE void quarter(const std::int32_t (&v)[8], int bits, std::int32_t (&out)[2]) {
  using F = Quarters;
  const std::uint32_t first = product(v[0], 1 << (kFactorBits + F::kExtraBits));
  const std::uint32_t odd = odd_sum(F::kOdd, v[1], v[3], v[5], v[7]);
  out[0] = rounded(first + odd, bits + F::kExtraBits);
  out[1] = rounded(first - odd, bits + F::kExtraBits);
}

template <std::size_t kSide>
HWY_INLINE void pass(const std::int32_t (&v)[8], int bits, std::int32_t (&out)[kSide]) {
  if constexpr (kSide == 4) {
    halve(v, bits, out);
  } else {
    quarter(v, bits, out);
  }
}

template <std::size_t kSide>
HWY_INLINE void reduce_block(const BlockTask& task, const Steps& steps, std::size_t stride) {
  std::int32_t rows[kSide][8];
  for (std::size_t x = 0; x < 8; ++x) {
    std::int32_t column[8];
    for (std::size_t u = 0; u < 8; ++u)
      column[u] = dequantized(task.coefficients, steps, 8 * u + x);
    std::int32_t out[kSide];
    pass(column, kFactorBits - kSpare, out);
    for (std::size_t y = 0; y < kSide; ++y) rows[y][x] = std::clamp(out[y], -0x8000, 0x7FFF);
  }
  for (std::size_t y = 0; y < kSide; ++y) {
    std::int32_t out[kSide];
    pass(rows[y], kFactorBits + kSpare + 3, out);
    for (std::size_t x = 0; x < kSide; ++x) {
      task.out[y * stride + x] = static_cast<std::uint8_t>(std::clamp(out[x] + 128, 0, 255));
    }
  }
}

void halves_loop(const BlockTask* tasks, std::size_t count, const Steps& steps,
                 std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) reduce_block<4>(tasks[i], steps, stride);
}

void quarters_loop(const BlockTask* tasks, std::size_t count, const Steps& steps,
                   std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) reduce_block<2>(tasks[i], steps, stride);
}

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(halves_loop);
HWY_EXPORT(quarters_loop);

void reduced_idct_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                         std::size_t stride, std::uint32_t by) {
  switch (by) {
    case 1:
      return idct_blocks(tasks, count, steps, stride);
    case 2:
      return HWY_DYNAMIC_DISPATCH(halves_loop)(tasks, count, steps, stride);
    case 4:
      return HWY_DYNAMIC_DISPATCH(quarters_loop)(tasks, count, steps, stride);
    default:
      return reduced_fill_blocks(tasks, count, steps, stride, by);
  }
}

void reduced_fill_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                         std::size_t stride, std::uint32_t by) {
  if (by == 1) return fill_blocks(tasks, count, steps, stride);
  const std::size_t side = 8 / by;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::int16_t>(tasks[i].coefficients[0] * steps[0]);
    const int sample = std::clamp(((value + 4) >> 3) + 128, 0, 255);
    std::uint8_t* out = tasks[i].out;
    for (std::size_t y = 0; y < side; ++y, out += stride) std::memset(out, sample, side);
  }
}

}  // namespace echoline::jpeg
#endif
