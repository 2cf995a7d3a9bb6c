// The vector loops, written once with Highway: this file is compiled once for each kind of CPU, and
// the best variant is chosen at run time.
//
// A sum of weight * pixel is exact in 32 bits with wrap-around, in any order. So the loops multiply
// 16-bit halves of the weights: pmaddwd on x86 does two taps of four values in one instruction,
// where a 32-bit multiplication is slow.
#include "augment/resize_passes.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "augment/resize_passes_plain.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/resize_passes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef ECHOLINE_RESIZE_PASSES_ONCE
#define ECHOLINE_RESIZE_PASSES_ONCE
namespace echoline::augment {

inline constexpr int kLowBits = 15;
inline constexpr std::size_t kGroup = 4;       // taps of one step of the horizontal pass
inline constexpr std::size_t kGroupPairs = 2;  // the same in pairs of weights
inline constexpr std::size_t kLoadBytes = 16;  // of which a step uses 12

// The weights for the vector loops. `stride`: pairs from output to output. `count`: of these, the
// pairs that an output has at most; others of an output are 0.
struct Pairs {
  const WeightPair* data = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
};

}  // namespace echoline::augment
#endif

HWY_BEFORE_NAMESPACE();
namespace echoline::augment::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE

// A vector has some blocks of 16 bytes. In the horizontal pass each block is another row.
using Bytes = hn::ScalableTag<std::uint8_t>;
using Words = hn::Repartition<std::int16_t, Bytes>;
using Sums = hn::Repartition<std::int32_t, Bytes>;
using VBytes = hn::Vec<Bytes>;
using VWords = hn::Vec<Words>;
using VSums = hn::Vec<Sums>;
constexpr Bytes kBytes{};
constexpr Words kWords;
constexpr Sums kSums;
constexpr std::size_t kVectorBytes = hn::MaxLanes(kBytes);
constexpr std::size_t kRows = kVectorBytes / 16;

// The four sums of each block. No default values: g++ would compile them for the oldest CPU.
struct PairSums {
  VSums low;
  VSums low_more;
  VSums high;
  VSums high_more;
};

HWY_INLINE PairSums no_sums() {
  const VSums zero = hn::Zero(kSums);
  return {zero, zero, zero, zero};
}

// Adds two taps, which are neighbours in each 32 bits of `taps`.
HWY_INLINE void add(VBytes taps, const WeightPair& pair, PairSums& sums) {
  const auto words = hn::BitCast(kWords, taps);
  sums.low = hn::ReorderWidenMulAccumulate(
      kSums, words, hn::BitCast(kWords, hn::Set(kSums, pair.low)), sums.low, sums.low_more);
  sums.high = hn::ReorderWidenMulAccumulate(
      kSums, words, hn::BitCast(kWords, hn::Set(kSums, pair.high)), sums.high, sums.high_more);
}

// Rounded, but not yet within a byte.
HWY_INLINE VSums values_of(const PairSums& sums) {
  const VSums low = hn::RearrangeToOddPlusEven(sums.low, sums.low_more);
  const VSums high = hn::RearrangeToOddPlusEven(sums.high, sums.high_more);
  return hn::ShiftRight<kWeightBits>(
      hn::Add(hn::Add(low, hn::ShiftLeft<kLowBits>(high)), hn::Set(kSums, kHalf)));
}

HWY_INLINE VBytes pattern(const std::uint8_t (&indexes)[16]) {
  return hn::LoadDup128(kBytes, indexes);
}

// Two times four values of each block, as numbers of 16 bits.
HWY_INLINE VWords words_of(VSums first, VSums second) {
  // The name leaves the order open; for all targets here it is that of the arguments, in each
  // block. The tests compare each target with the plain loops.
  return hn::ReorderDemote2To(kWords, first, second);
}

// The words of each block clamped to bytes: those of `first`, then those of `second`. Highway 1.0
// lacks this, which is one instruction on x86.
HWY_INLINE VBytes bytes_of(VWords first, VWords second) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return VBytes{_mm512_packus_epi16(first.raw, second.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return VBytes{_mm256_packus_epi16(first.raw, second.raw)};
#elif HWY_ARCH_X86
  return VBytes{_mm_packus_epi16(first.raw, second.raw)};
#else
  alignas(16) static constexpr std::uint8_t kInOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14,
                                                            1, 3, 5, 7, 9, 11, 13, 15};
  const auto clamped = [](VWords words) HWY_ATTR {
    return hn::Min(hn::Max(words, hn::Zero(kWords)), hn::Set(kWords, 255));
  };
  const VWords bytes = hn::Or(clamped(first), hn::ShiftLeft<8>(clamped(second)));
  return hn::TableLookupBytes(hn::BitCast(kBytes, bytes), pattern(kInOrder));
#endif
}

// Each block of the result has the four values of `a` as bytes, then those of `b`, `c` and `d`.
HWY_INLINE VBytes bytes_of(VSums a, VSums b, VSums c, VSums d) {
  return bytes_of(words_of(a, b), words_of(c, d));
}

// 16 bytes of each row, at the same offset. A template, so that only the branch of this size
// counts.
template <typename D>
HWY_INLINE hn::Vec<D> load_rows(D d, const std::uint8_t* const* rows, std::size_t at) {
  const hn::Half<D> half;
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::LoadU(d, rows[0] + at);
  } else {
    constexpr std::size_t kHalfRows = hn::MaxLanes(hn::Half<D>()) / 16;
    return hn::Combine(d, load_rows(half, rows + kHalfRows, at), load_rows(half, rows, at));
  }
}

// Two vectors of rows have the same weights, so that each weight is loaded once for both.
constexpr std::size_t kStepRows = 2 * kRows;
struct RowValues {
  VSums first;
  VSums second;
};

// The three values of an output pixel in each row. kPairs: the pairs of its weights; 0: `count`,
// which is only known at run time.
template <std::size_t kPairs>
HWY_INLINE RowValues rgb_output(const std::uint8_t* const (&rows)[kStepRows], std::size_t at,
                                const WeightPair* pairs, std::size_t count) {
  // Two pixels as 16-bit numbers, channel by channel; 0x80 gives 0.
  alignas(16) static constexpr std::uint8_t kFirst[16] = {0, 0x80, 3, 0x80, 1,    0x80, 4,    0x80,
                                                          2, 0x80, 5, 0x80, 0x80, 0x80, 0x80, 0x80};
  alignas(16) static constexpr std::uint8_t kSecond[16] = {
      6, 0x80, 9, 0x80, 7, 0x80, 10, 0x80, 8, 0x80, 11, 0x80, 0x80, 0x80, 0x80, 0x80};
  PairSums sums = no_sums();
  PairSums more_sums = no_sums();
  const std::size_t end = kPairs == 0 ? count : kPairs;
  for (std::size_t k = 0; k < end; k += kGroupPairs, at += kGroup * 3) {
    const VBytes pixels = load_rows(kBytes, rows, at);
    const VBytes more = load_rows(kBytes, rows + kRows, at);
    add(hn::TableLookupBytesOr0(pixels, pattern(kFirst)), pairs[k], sums);
    add(hn::TableLookupBytesOr0(more, pattern(kFirst)), pairs[k], more_sums);
    if (k + 1 == end) break;
    add(hn::TableLookupBytesOr0(pixels, pattern(kSecond)), pairs[k + 1], sums);
    add(hn::TableLookupBytesOr0(more, pattern(kSecond)), pairs[k + 1], more_sums);
  }
  return {values_of(sums), values_of(more_sums)};
}

// Four output pixels of kRows rows: 12 bytes each, and 4 more where there is room for them.
HWY_INLINE void store_pixels(VSums a, VSums b, VSums c, VSums d, std::size_t at, std::size_t left,
                             std::uint8_t* const* out) {
  alignas(16) static constexpr std::uint8_t kPack[16] = {0,  1,  2,  4,  5,    6,    8,    9,
                                                         10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};
  alignas(64) std::uint8_t pixels[kVectorBytes];
  hn::Store(hn::TableLookupBytesOr0(bytes_of(a, b, c, d), pattern(kPack)), kBytes, pixels);
  // 16 bytes are faster to copy than 12; the next step overwrites the last four.
  const std::size_t bytes = left >= 6 ? 16 : std::min<std::size_t>(left, 4) * 3;
  for (std::size_t y = 0; y < kRows; ++y) {
    if (bytes == 16) {
      std::memcpy(out[y] + at, pixels + y * 16, 16);
    } else {
      std::memcpy(out[y] + at, pixels + y * 16, bytes);
    }
  }
}

template <std::size_t kPairs>
HWY_INLINE void rgb_rows(const std::uint8_t* const (&rows)[kStepRows], const Weights& weights,
                         const Pairs& pairs, std::uint8_t* const (&out)[kStepRows]) {
  const std::size_t count = weights.taps.size();
  const auto output = [&](std::size_t i) HWY_ATTR {
    const std::size_t index = std::min(i, count - 1);
    return rgb_output<kPairs>(rows, weights.taps[index].first * std::size_t{3},
                              pairs.data + index * pairs.stride, pairs.count);
  };
  for (std::size_t i = 0; i < count; i += 4) {
    // Written out, so that all stay in registers.
    const RowValues a = output(i);
    const RowValues b = output(i + 1);
    const RowValues c = output(i + 2);
    const RowValues d = output(i + 3);
    store_pixels(a.first, b.first, c.first, d.first, i * 3, count - i, out);
    store_pixels(a.second, b.second, c.second, d.second, i * 3, count - i, out + kRows);
  }
}

// kVectorBytes columns of one output row. kPairs as above, for `count` rows.
template <std::size_t kPairs>
HWY_INLINE void column_vector(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                              const WeightPair* pairs, std::uint8_t* out) {
  const VBytes zero = hn::Zero(kBytes);
  PairSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
  for (std::size_t k = 0; k < (kPairs == 0 ? count : 2 * kPairs);
       k += 2, rows += 2 * stride, ++pairs) {
    const VBytes one = hn::LoadU(kBytes, rows);
    // The weight of a row beyond the last one is 0.
    const VBytes two = hn::LoadU(kBytes, k + 1 < count ? rows + stride : rows);
    const VBytes low = hn::InterleaveLower(kBytes, one, two);
    const VBytes high = hn::InterleaveUpper(kBytes, one, two);
    add(hn::InterleaveLower(kBytes, low, zero), *pairs, sums[0]);
    add(hn::InterleaveUpper(kBytes, low, zero), *pairs, sums[1]);
    add(hn::InterleaveLower(kBytes, high, zero), *pairs, sums[2]);
    add(hn::InterleaveUpper(kBytes, high, zero), *pairs, sums[3]);
  }
  hn::StoreU(
      bytes_of(values_of(sums[0]), values_of(sums[1]), values_of(sums[2]), values_of(sums[3])),
      kBytes, out);
}

template <std::size_t kPairs>
HWY_INLINE void all_rows(const View& view, const Weights& weights, const Pairs& pairs,
                         const std::uint8_t* last_row, std::uint8_t* out) {
  const std::size_t row_bytes = weights.taps.size() * 3;
  const std::size_t height = view.size.height;
  for (std::size_t y = 0; y < height; y += kStepRows) {
    const std::uint8_t* rows[kStepRows];
    std::uint8_t* outs[kStepRows];
    for (std::size_t i = 0; i < kStepRows; ++i) {
      const std::size_t row = std::min(y + i, height - 1);  // the last one more than once
      rows[i] = row + 1 == height ? last_row : view.row(row);
      outs[i] = out + row * row_bytes;
    }
    rgb_rows<kPairs>(rows, weights, pairs, outs);
  }
}

// The common numbers of weights have loops of their own, without a branch for each output. (In the
// vertical pass, one branch is enough for a row.)
void vector_rows(const View& view, const Weights& weights, const Pairs& pairs,
                 const std::uint8_t* last_row, std::uint8_t* out) {
  switch (pairs.count) {
    case 1:
      return all_rows<1>(view, weights, pairs, last_row, out);
    case 2:
      return all_rows<2>(view, weights, pairs, last_row, out);
    case 3:
      return all_rows<3>(view, weights, pairs, last_row, out);
    default:
      return all_rows<0>(view, weights, pairs, last_row, out);
  }
}

template <std::size_t kPairs>
HWY_INLINE void output_row(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                           std::size_t count, const WeightPair* pairs, std::uint8_t* out) {
  for (std::size_t x = 0; x < row_bytes; x += kVectorBytes) {
    // The last vector overlaps the one before it.
    const std::size_t at = std::min(x, row_bytes - kVectorBytes);
    column_vector<kPairs>(rows + at, stride, count, pairs, out + at);
  }
}

void vector_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    const Weights& weights, const Pairs& pairs, std::uint8_t* out) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i, out += row_bytes) {
    const Taps& taps = weights.taps[i];
    const std::uint8_t* first = rows + taps.first * stride;
    const WeightPair* own = pairs.data + i * pairs.stride;
    switch ((taps.count + 1) / 2) {
      case 1:
        output_row<1>(first, stride, row_bytes, taps.count, own, out);
        break;
      case 2:
        output_row<2>(first, stride, row_bytes, taps.count, own, out);
        break;
      default:
        output_row<0>(first, stride, row_bytes, taps.count, own, out);
    }
  }
}

#else

constexpr std::size_t kVectorBytes = 0;
void vector_rows(const View&, const Weights&, const Pairs&, const std::uint8_t*, std::uint8_t*) {}
void vector_columns(const std::uint8_t*, std::size_t, std::size_t, const Weights&, const Pairs&,
                    std::uint8_t*) {}

#endif

// The bytes that a row or a view needs at least for the vector loops; 0: there are none.
std::size_t vector_bytes() { return kVectorBytes; }

// Rows of one channel: the compiler's vectors.
void gray_rows(const View& view, const Weights& weights, std::uint8_t* out) {
  for (std::size_t y = 0; y < view.size.height; ++y, out += weights.taps.size()) {
    plain_row<1>(view.row(y), weights, out);
  }
}

void narrow_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    const Weights& weights, std::uint8_t* out) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i, out += row_bytes) {
    const std::span<const std::int32_t> values = weights.of(i);
    for (std::size_t x = 0; x < row_bytes; x += kBlock) {
      plain_block(rows + weights.taps[i].first * stride + x, stride,
                  std::min(kBlock, row_bytes - x), values.data(), values.size(), out + x);
    }
  }
}

}  // namespace echoline::augment::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::augment {

HWY_EXPORT(vector_bytes);
HWY_EXPORT(vector_rows);
HWY_EXPORT(vector_columns);
HWY_EXPORT(gray_rows);
HWY_EXPORT(narrow_columns);

namespace {

std::int32_t halves(std::int32_t first, std::int32_t second) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(first) & 0xFFFF) |
                                   static_cast<std::uint32_t>(second) << 16);
}

WeightPair pair_of(std::int32_t first, std::int32_t second) {
  constexpr std::int32_t kLowMask = (1 << kLowBits) - 1;
  return {halves(first & kLowMask, second & kLowMask),
          halves(first >> kLowBits, second >> kLowBits)};
}

std::size_t most_taps(const Weights& weights) {
  return std::ranges::max_element(weights.taps, {}, &Taps::count)->count;
}

Pairs make_pairs(const Weights& weights, std::vector<WeightPair>& pairs) {
  const std::size_t stride = (weights.stride + 1) / 2;
  pairs.resize(weights.taps.size() * stride);
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    const std::span<const std::int32_t> values = weights.of(i);
    for (std::size_t j = 0; j < stride; ++j) {
      const auto value = [&](std::size_t k) { return k < values.size() ? values[k] : 0; };
      pairs[i * stride + j] = pair_of(value(2 * j), value(2 * j + 1));
    }
  }
  return {pairs.data(), stride, (most_taps(weights) + 1) / 2};
}

// At most so many bytes beyond its last tap are read: taps that have no weight of their own, and
// the rest of the last load.
std::size_t load_padding(const Weights& weights) {
  return kLoadBytes + (most_taps(weights) + kGroup) * 3;
}

// A load reaches beyond the last tap, at most into the next row if rows are long enough. So the
// last row is copied.
const std::uint8_t* padded_last_row(const View& view, std::size_t padding, PassScratch& scratch) {
  const std::size_t row_bytes = view.row_bytes();
  scratch.last_row.resize(row_bytes + padding);
  auto* last_row = reinterpret_cast<std::uint8_t*>(scratch.last_row.data());
  std::memcpy(last_row, view.row(view.size.height - 1), row_bytes);
  std::memset(last_row + row_bytes, 0, padding);
  return last_row;
}

}  // namespace

bool uses_byte_products() {
  return HWY_DYNAMIC_DISPATCH(vector_bytes)() == ByteWeights::kVector && has_byte_products();
}

void resize_rows(const View& view, const Weights& weights, PassScratch& scratch,
                 std::uint8_t* out) {
  if (view.channels == 1) return HWY_DYNAMIC_DISPATCH(gray_rows)(view, weights, out);
  if (scratch.byte_products && view.row_bytes() >= kByteLoad && scratch.bytes.make_rows(weights)) {
    const std::uint8_t* last_row = padded_last_row(view, kByteLoad, scratch);
    return byte_rows(view, scratch.bytes, weights.taps.size(), last_row, out);
  }
  const std::size_t padding = load_padding(weights);
  if (HWY_DYNAMIC_DISPATCH(vector_bytes)() == 0 || view.stride < padding) {
    return resize_rows_plain(view, weights, out);
  }
  const std::uint8_t* last_row = padded_last_row(view, padding, scratch);
  HWY_DYNAMIC_DISPATCH(vector_rows)
  (view, weights, make_pairs(weights, scratch.pairs), last_row, out);
}

void resize_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    const Weights& weights, PassScratch& scratch, std::uint8_t* out) {
  const std::size_t least = HWY_DYNAMIC_DISPATCH(vector_bytes)();
  if (least == 0 || row_bytes < least) {
    return HWY_DYNAMIC_DISPATCH(narrow_columns)(rows, stride, row_bytes, weights, out);
  }
  if (scratch.byte_products && scratch.bytes.make_columns(weights)) {
    return byte_columns(rows, stride, row_bytes, weights, scratch.bytes, out);
  }
  HWY_DYNAMIC_DISPATCH(vector_columns)
  (rows, stride, row_bytes, weights, make_pairs(weights, scratch.pairs), out);
}

void resize_rows_plain(const View& view, const Weights& weights, std::uint8_t* out) {
  const std::size_t row_bytes = weights.taps.size() * view.channels;
  for (std::size_t y = 0; y < view.size.height; ++y, out += row_bytes) {
    if (view.channels == 3) {
      plain_row<3>(view.row(y), weights, out);
    } else {
      plain_row<1>(view.row(y), weights, out);
    }
  }
}

void resize_columns_plain(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                          const Weights& weights, std::uint8_t* out) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i, out += row_bytes) {
    for (std::size_t x = 0; x < row_bytes; ++x) {
      std::int32_t sum = kHalf;
      const std::uint8_t* pixel = rows + weights.taps[i].first * stride + x;
      for (const std::int32_t weight : weights.of(i)) {
        sum += weight * *pixel;
        pixel += stride;
      }
      out[x] = to_byte(sum);
    }
  }
}

}  // namespace echoline::augment
#endif
