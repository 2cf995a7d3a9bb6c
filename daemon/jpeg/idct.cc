// The vector loop, written once with Highway; see jpeg/idct_plain.h for what it computes. Each
// 128-bit part of a vector is a row of another block, so that no value crosses from part to part.
#include "jpeg/idct.h"

#include <algorithm>
#include <cstring>

#include "jpeg/idct_plain.h"
#include "jpeg/zigzag.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/idct.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE

using Words = hn::ScalableTag<std::int16_t>;
using Sums = hn::Repartition<std::int32_t, Words>;
using Quads = hn::Repartition<std::int64_t, Words>;
using Bytes8 = hn::Repartition<std::uint8_t, Words>;
using VWords = hn::Vec<Words>;
using VSums = hn::Vec<Sums>;
using VBytes8 = hn::Vec<Bytes8>;
constexpr Words kWords;
constexpr Sums kSums;
constexpr Quads kQuads;
constexpr Bytes8 kBytes8;
constexpr std::size_t kBlocks = hn::MaxLanes(kWords) / 8;

// A row of each block. A template, so that only the branch of this size counts.
template <typename D>
HWY_INLINE hn::Vec<D> load_rows(D d, const BlockTask* tasks, std::size_t at) {
  const hn::Half<D> half;
  if constexpr (hn::MaxLanes(D()) == 8) {
    return hn::LoadU(d, tasks[0].coefficients + at);
  } else {
    constexpr std::size_t kHalf = hn::MaxLanes(hn::Half<D>()) / 8;
    return hn::Combine(d, load_rows(half, tasks + kHalf, at), load_rows(half, tasks, at));
  }
}

// Eight rows, or eight columns.
struct Eight {
  HWY_INLINE Eight() {}  // The compiler's own would not have the instructions of this target.
  VWords v[8];
};

// a * first + b * second, for columns 0 to 3 (low) and 4 to 7 of each block.
struct Products {
  VSums low;
  VSums high;
};

HWY_INLINE VSums multiply_pairs(VWords pairs, VWords factors) {
  VSums more = hn::Zero(kSums);
  const VSums sums = hn::ReorderWidenMulAccumulate(kSums, pairs, factors, hn::Zero(kSums), more);
  return hn::RearrangeToOddPlusEven(sums, more);
}

HWY_INLINE Products rotate(VWords low, VWords high, int first, int second) {
  const auto both = static_cast<std::int32_t>((static_cast<std::uint32_t>(first) & 0xFFFF) |
                                              static_cast<std::uint32_t>(second) << 16);
  const VWords factors = hn::BitCast(kWords, hn::Set(kSums, both));
  return {multiply_pairs(low, factors), multiply_pairs(high, factors)};
}

HWY_INLINE Products operator_add(const Products& a, const Products& b) {
  return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
}
HWY_INLINE Products operator_sub(const Products& a, const Products& b) {
  return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)};
}

// Values with Rotations::kBits bits after the point.
HWY_INLINE Products widened(VWords values) {
  const VWords zero = hn::Zero(kWords);
  constexpr int kShift = 16 - Rotations::kBits;
  return {hn::ShiftRight<kShift>(hn::BitCast(kSums, hn::InterleaveLower(kWords, zero, values))),
          hn::ShiftRight<kShift>(hn::BitCast(kSums, hn::InterleaveUpper(kWords, zero, values)))};
}

template <int kShift>
HWY_INLINE VWords narrowed(const Products& sums) {
  const VSums half = hn::Set(kSums, 1 << (kShift - 1));
  // Clamps. On all vectors of this branch, part by part.
  return hn::ReorderDemote2To(kWords, hn::ShiftRight<kShift>(hn::Add(sums.low, half)),
                              hn::ShiftRight<kShift>(hn::Add(sums.high, half)));
}

template <int kShift>
HWY_INLINE void idct_pass_vector(Eight& rows) {
  using R = Rotations;
  VWords(&v)[8] = rows.v;
  const VWords v26_low = hn::InterleaveLower(kWords, v[2], v[6]);
  const VWords v26_high = hn::InterleaveUpper(kWords, v[2], v[6]);
  const Products even = rotate(v26_low, v26_high, R::k541, R::k541Minus1847);
  const Products even_more = rotate(v26_low, v26_high, R::k541Plus765, R::k541);
  const Products sum = widened(hn::Add(v[0], v[4]));
  const Products difference = widened(hn::Sub(v[0], v[4]));
  const Products evens[4] = {operator_add(sum, even_more), operator_add(difference, even),
                             operator_sub(difference, even), operator_sub(sum, even_more)};

  const VWords z3 = hn::Add(v[7], v[3]);
  const VWords z4 = hn::Add(v[5], v[1]);
  const VWords z_low = hn::InterleaveLower(kWords, z3, z4);
  const VWords z_high = hn::InterleaveUpper(kWords, z3, z4);
  const Products common = rotate(z_low, z_high, R::k1175Minus1961, R::k1175);
  const Products other = rotate(z_low, z_high, R::k1175, R::k1175Minus390);
  const VWords v71_low = hn::InterleaveLower(kWords, v[7], v[1]);
  const VWords v71_high = hn::InterleaveUpper(kWords, v[7], v[1]);
  const VWords v53_low = hn::InterleaveLower(kWords, v[5], v[3]);
  const VWords v53_high = hn::InterleaveUpper(kWords, v[5], v[3]);
  const Products odds[4] = {
      operator_add(rotate(v71_low, v71_high, R::kMinus899, R::k1501Minus899), other),
      operator_add(rotate(v53_low, v53_high, R::kMinus2562, R::k3072Minus2562), common),
      operator_add(rotate(v53_low, v53_high, R::k2053Minus2562, R::kMinus2562), other),
      operator_add(rotate(v71_low, v71_high, R::k298Minus899, R::kMinus899), common)};
  for (std::size_t i = 0; i < 4; ++i) {
    v[i] = narrowed<kShift>(operator_add(evens[i], odds[i]));
    v[7 - i] = narrowed<kShift>(operator_sub(evens[i], odds[i]));
  }
}

// Rows become columns, in each block.
HWY_INLINE void transpose(Eight& rows) {
  VWords(&v)[8] = rows.v;
  VSums pairs[8];
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t row = 2 * i;
    pairs[i] = hn::BitCast(kSums, hn::InterleaveLower(kWords, v[row], v[row + 1]));
    pairs[i + 4] = hn::BitCast(kSums, hn::InterleaveUpper(kWords, v[row], v[row + 1]));
  }
  for (std::size_t half = 0; half < 8; half += 4) {
    const VSums* p = pairs + half;
    const auto a = hn::BitCast(kQuads, hn::InterleaveLower(kSums, p[0], p[1]));
    const auto b = hn::BitCast(kQuads, hn::InterleaveLower(kSums, p[2], p[3]));
    const auto c = hn::BitCast(kQuads, hn::InterleaveUpper(kSums, p[0], p[1]));
    const auto d = hn::BitCast(kQuads, hn::InterleaveUpper(kSums, p[2], p[3]));
    v[half] = hn::BitCast(kWords, hn::InterleaveLower(kQuads, a, b));
    v[half + 1] = hn::BitCast(kWords, hn::InterleaveUpper(kQuads, a, b));
    v[half + 2] = hn::BitCast(kWords, hn::InterleaveLower(kQuads, c, d));
    v[half + 3] = hn::BitCast(kWords, hn::InterleaveUpper(kQuads, c, d));
  }
}

// Two columns of each block as bytes: 8 of `a`, 8 of `b`.
HWY_INLINE VWords bytes_of(VWords a, VWords b) {
  // The level shift (A.3.1), then clamped to bytes.
  const VWords level = hn::Set(kWords, 128);
  const auto words_a = hn::SaturatedAdd(a, level);
  const auto words_b = hn::SaturatedAdd(b, level);
  const auto low = hn::Min(hn::Max(words_a, hn::Zero(kWords)), hn::Set(kWords, 255));
  const auto high = hn::Min(hn::Max(words_b, hn::Zero(kWords)), hn::Set(kWords, 255));
  // Byte pairs (a, b), row by row.
  return hn::Or(low, hn::ShiftLeft<8>(high));
}

// From columns to rows of bytes: `out` has rows 2 i and 2 i + 1 of each block in out[i].
HWY_INLINE void rows_of_bytes(const Eight& columns, VBytes8 (&out)[4]) {
  const VWords(&v)[8] = columns.v;
  const VWords c01 = bytes_of(v[0], v[1]);
  const VWords c23 = bytes_of(v[2], v[3]);
  const VWords c45 = bytes_of(v[4], v[5]);
  const VWords c67 = bytes_of(v[6], v[7]);
  const auto low03 = hn::BitCast(kSums, hn::InterleaveLower(kWords, c01, c23));
  const auto high03 = hn::BitCast(kSums, hn::InterleaveUpper(kWords, c01, c23));
  const auto low47 = hn::BitCast(kSums, hn::InterleaveLower(kWords, c45, c67));
  const auto high47 = hn::BitCast(kSums, hn::InterleaveUpper(kWords, c45, c67));
  out[0] = hn::BitCast(kBytes8, hn::InterleaveLower(kSums, low03, low47));
  out[1] = hn::BitCast(kBytes8, hn::InterleaveUpper(kSums, low03, low47));
  out[2] = hn::BitCast(kBytes8, hn::InterleaveLower(kSums, high03, high47));
  out[3] = hn::BitCast(kBytes8, hn::InterleaveUpper(kSums, high03, high47));
}

HWY_INLINE void store_rows(const VBytes8 (&rows)[4], const BlockTask* tasks, std::size_t count,
                           std::size_t stride) {
  alignas(64) std::uint8_t bytes[4][kBlocks * 16];
  for (std::size_t i = 0; i < 4; ++i) hn::Store(rows[i], kBytes8, bytes[i]);
  for (std::size_t b = 0; b < count; ++b) {
    std::uint8_t* out = tasks[b].out;
    for (std::size_t i = 0; i < 4; ++i, out += 2 * stride) {
      std::memcpy(out, bytes[i] + 16 * b, 8);
      std::memcpy(out + stride, bytes[i] + 16 * b + 8, 8);
    }
  }
}

// False if a first row has values that idct_block_plain treats in a special way.
HWY_INLINE bool dequantize(const BlockTask* tasks, const Steps& steps, Eight& rows) {
  for (std::size_t i = 0; i < 8; ++i) {
    const VWords step = hn::LoadDup128(kWords, steps.data() + 8 * i);
    rows.v[i] = hn::Mul(load_rows(kWords, tasks, 8 * i), step);
  }
  constexpr int kSpare = Rotations::kSpareBits;
  const VWords shifted = hn::ShiftRight<kSpare>(hn::ShiftLeft<kSpare>(rows.v[0]));
  return hn::AllTrue(kWords, hn::Eq(shifted, rows.v[0]));
}

HWY_INLINE void idct_group(const BlockTask* tasks, std::size_t count, const Steps& steps,
                           std::size_t stride) {
  Eight rows;
  if (!dequantize(tasks, steps, rows)) [[unlikely]] {
    for (std::size_t i = 0; i < count; ++i) {
      idct_block_plain(tasks[i].coefficients, steps.data(), tasks[i].out, stride);
    }
    return;
  }
  idct_pass_vector<Rotations::kBits - Rotations::kSpareBits>(rows);
  transpose(rows);
  idct_pass_vector<Rotations::kBits + Rotations::kSpareBits + 3>(rows);
  VBytes8 bytes[4];
  rows_of_bytes(rows, bytes);
  store_rows(bytes, tasks, count, stride);
}

void idct_loop(const BlockTask* tasks, std::size_t count, const Steps& steps, std::size_t stride) {
  std::size_t i = 0;
  for (; i + kBlocks <= count; i += kBlocks) idct_group(tasks + i, kBlocks, steps, stride);
  if (i == count) return;
  // The last group repeats its last block.
  BlockTask last[kBlocks];
  for (std::size_t b = 0; b < kBlocks; ++b) last[b] = tasks[std::min(i + b, count - 1)];
  idct_group(last, count - i, steps, stride);
}

#else

void idct_loop(const BlockTask* tasks, std::size_t count, const Steps& steps, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    idct_block_plain(tasks[i].coefficients, steps.data(), tasks[i].out, stride);
  }
}

#endif

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(idct_loop);

Steps steps_of(Bytes zigzag) {
  Steps steps{};
  for (std::size_t i = 0; i < kBlockSamples; ++i) steps[kNaturalOrder[i]] = zigzag[i];
  return steps;
}

void idct_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                 std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(idct_loop)(tasks, count, steps, stride);
}

// What both passes do to a block whose other coefficients are 0.
void fill_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                 std::size_t stride) {
  constexpr int kShift = Rotations::kSpareBits + 3;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t dequantized = std::int32_t{tasks[i].coefficients[0]} * steps[0];
    const std::int32_t value = wrap16(std::int64_t{wrap16(dequantized)} << Rotations::kSpareBits);
    const std::int32_t sample = ((value + (1 << (kShift - 1))) >> kShift) + 128;
    std::uint8_t* out = tasks[i].out;
    for (std::size_t y = 0; y < 8; ++y, out += stride) {
      std::memset(out, std::clamp(sample, 0, 255), 8);
    }
  }
}

}  // namespace echoline::jpeg
#endif
