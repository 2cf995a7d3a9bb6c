// Written with intrinsics, because Highway 1.0 has neither of the two instructions that make it
// fast: sums of four products of bytes, and a choice of any 64 bytes.
#include "augment/byte_passes.h"

#if defined(__x86_64__)
#if !defined(__clang__)
// g++ 12 warns of the undefined vectors in its own header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <span>

#include "augment/resize_passes_plain.h"

#define ECHOLINE_BYTE_PASSES [[gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")]]

namespace echoline::augment {
namespace {

constexpr std::size_t kRows = 4;  // of one step of the horizontal pass
constexpr std::size_t kPlanes = ByteWeights::kPlanes;
constexpr std::size_t kVector = ByteWeights::kVector;

// Each 16 bytes of the result have four values of `a`, then of `b`, `c` and `d`, clamped to bytes.
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline __m512i bytes_of(__m512i a, __m512i b, __m512i c,
                                                                    __m512i d) {
  const __m512i first =
      _mm512_packs_epi32(_mm512_srai_epi32(a, kWeightBits), _mm512_srai_epi32(b, kWeightBits));
  const __m512i second =
      _mm512_packs_epi32(_mm512_srai_epi32(c, kWeightBits), _mm512_srai_epi32(d, kWeightBits));
  return _mm512_packus_epi16(first, second);
}

// What a sum begins with: it is shifted to kHalf, together with the products of the highest bytes.
constexpr int kShiftedHalf = kHalf >> 8 * (kPlanes - 1);

// One group of outputs of a row. kQuads is its number of steps, 0 if it is only known at run time:
// otherwise the compiler chooses the taps once for all bytes of the weights.
template <std::uint32_t kQuads>
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline __m512i row_sums(const std::uint8_t* row,
                                                                    const std::uint8_t* vectors,
                                                                    std::uint32_t quads) {
  const __m512i places = _mm512_loadu_si512(vectors);
  __m512i sums = _mm512_set1_epi32(kShiftedHalf);
  for (std::size_t b = kPlanes; b > 0; --b) {
    if (b < kPlanes) sums = _mm512_slli_epi32(sums, 8);
    for (std::uint32_t q = 0; q < (kQuads == 0 ? quads : kQuads); ++q) {
      const __m512i taps = _mm512_permutexvar_epi8(places, _mm512_loadu_si512(row + 12 * q));
      const __m512i weight = _mm512_loadu_si512(vectors + (q * kPlanes + b) * kVector);
      sums = _mm512_dpbusd_epi32(sums, taps, weight);
    }
  }
  return sums;
}

// The same of four rows: 16 bytes for each, of which the last one means nothing.
template <std::uint32_t kQuads>
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline __m512i row_group(
    const std::uint8_t* const (&rows)[kRows], const std::uint8_t* vectors,
    const ByteWeights::Group& group) {
  __m512i sums[kRows];
  for (std::size_t y = 0; y < kRows; ++y) {
    sums[y] = row_sums<kQuads>(rows[y] + group.first, vectors, group.quads);
  }
  const __m512i bytes = bytes_of(sums[0], sums[1], sums[2], sums[3]);
  // From values of each row in each part to a part for each row.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, bytes);
}

ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline __m512i row_group(
    const std::uint8_t* const (&rows)[kRows], const ByteWeights& weights,
    const ByteWeights::Group& group) {
  const std::uint8_t* vectors = weights.vector(group.places);
  if (group.quads == 1) return row_group<1>(rows, vectors, group);
  if (group.quads == 2) return row_group<2>(rows, vectors, group);
  return row_group<0>(rows, vectors, group);
}

ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline void store_rows(
    __m512i pixels, __mmask16 mask, std::size_t at, std::uint8_t* const (&out)[kRows]) {
  _mm_mask_storeu_epi8(out[0] + at, mask, _mm512_castsi512_si128(pixels));
  _mm_mask_storeu_epi8(out[1] + at, mask, _mm512_extracti32x4_epi32(pixels, 1));
  _mm_mask_storeu_epi8(out[2] + at, mask, _mm512_extracti32x4_epi32(pixels, 2));
  _mm_mask_storeu_epi8(out[3] + at, mask, _mm512_extracti32x4_epi32(pixels, 3));
}

ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline void store_rows(
    __m512i pixels, std::size_t at, std::uint8_t* const (&out)[kRows]) {
  const auto place = [&](std::size_t y) { return reinterpret_cast<__m128i*>(out[y] + at); };
  _mm_storeu_si128(place(0), _mm512_castsi512_si128(pixels));
  _mm_storeu_si128(place(1), _mm512_extracti32x4_epi32(pixels, 1));
  _mm_storeu_si128(place(2), _mm512_extracti32x4_epi32(pixels, 2));
  _mm_storeu_si128(place(3), _mm512_extracti32x4_epi32(pixels, 3));
}

ECHOLINE_BYTE_PASSES void four_rows(const std::uint8_t* const (&rows)[kRows],
                                    const ByteWeights& weights, std::size_t outputs,
                                    std::uint8_t* const (&out)[kRows]) {
  const std::span<const ByteWeights::Group> groups = weights.groups();
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i, at += ByteWeights::kOutputs * 3) {
    // The next group overwrites the last byte.
    store_rows(row_group(rows, weights, groups[i]), at, out);
  }
  const auto mask = static_cast<__mmask16>((1U << (outputs * 3 - at)) - 1);
  store_rows(row_group(rows, weights, groups.back()), mask, at, out);
}

// The sums of 64 columns, for each byte of the weights.
struct ColumnSums {
  __m512i planes[kPlanes][4];
};

// Adds four rows. In each 32 bits of `taps` are the four of a column.
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline void add_rows(const __m512i (&row)[4],
                                                                 const std::uint32_t* weights,
                                                                 ColumnSums& sums) {
  const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
  const __m512i taps[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                           _mm512_unpacklo_epi16(high01, high23),
                           _mm512_unpackhi_epi16(high01, high23)};
  for (std::size_t b = 0; b < kPlanes; ++b) {
    const __m512i weight = _mm512_set1_epi32(static_cast<int>(weights[b]));
    for (std::size_t i = 0; i < 4; ++i) {
      sums.planes[b][i] = _mm512_dpbusd_epi32(sums.planes[b][i], taps[i], weight);
    }
  }
}

// 64 columns of one output row. kQuads as above, for `count` rows.
template <std::size_t kQuads>
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline void column_vector(const std::uint8_t* rows,
                                                                      std::size_t stride,
                                                                      std::size_t count,
                                                                      const std::uint32_t* weights,
                                                                      std::uint8_t* out) {
  ColumnSums sums;
  for (std::size_t i = 0; i < 4; ++i) {
    sums.planes[0][i] = sums.planes[1][i] = _mm512_setzero_si512();
    sums.planes[2][i] = _mm512_set1_epi32(kShiftedHalf);
  }
  for (std::size_t q = 0; q < (kQuads == 0 ? (count + 3) / 4 : kQuads); ++q) {
    __m512i row[4];
    for (std::size_t i = 0; i < 4; ++i) {
      // The weight of a row beyond the last one is 0.
      const std::size_t y = 4 * q + i < count ? 4 * q + i : 0;
      row[i] = _mm512_loadu_si512(rows + y * stride);
    }
    add_rows(row, weights + kPlanes * q, sums);
  }
  __m512i values[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const __m512i high = _mm512_slli_epi32(sums.planes[2][i], 8);
    const __m512i middle = _mm512_slli_epi32(_mm512_add_epi32(high, sums.planes[1][i]), 8);
    values[i] = _mm512_add_epi32(middle, sums.planes[0][i]);
  }
  _mm512_storeu_si512(out, bytes_of(values[0], values[1], values[2], values[3]));
}

// One output row.
template <std::size_t kQuads>
ECHOLINE_BYTE_PASSES [[gnu::always_inline]] inline void output_row(
    const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes, std::size_t count,
    const std::uint32_t* weights, std::uint8_t* out) {
  for (std::size_t x = 0; x < row_bytes; x += kVector) {
    // The last vector overlaps the one before it.
    const std::size_t at = std::min(x, row_bytes - kVector);
    column_vector<kQuads>(rows + at, stride, count, weights, out + at);
  }
}

}  // namespace

bool has_byte_products() {
  return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
}

ECHOLINE_BYTE_PASSES void byte_rows(const View& view, const ByteWeights& weights,
                                    std::size_t outputs, const std::uint8_t* last_row,
                                    std::uint8_t* out) {
  const std::size_t height = view.size.height;
  for (std::size_t y = 0; y < height; y += kRows) {
    const std::uint8_t* rows[kRows];
    std::uint8_t* outs[kRows];
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::size_t row = std::min(y + i, height - 1);  // the last one more than once
      rows[i] = row + 1 == height ? last_row : view.row(row);
      outs[i] = out + row * outputs * 3;
    }
    four_rows(rows, weights, outputs, outs);
  }
}

ECHOLINE_BYTE_PASSES void byte_columns(const std::uint8_t* rows, std::size_t stride,
                                       std::size_t row_bytes, const Weights& weights,
                                       const ByteWeights& bytes, std::uint8_t* out) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i, out += row_bytes) {
    const Taps& taps = weights.taps[i];
    const std::uint8_t* first = rows + taps.first * stride;
    const std::uint32_t* own = bytes.column_quads(i);
    if (taps.count <= 4) {
      output_row<1>(first, stride, row_bytes, taps.count, own, out);
    } else if (taps.count <= 8) {
      output_row<2>(first, stride, row_bytes, taps.count, own, out);
    } else {
      output_row<0>(first, stride, row_bytes, taps.count, own, out);
    }
  }
}

}  // namespace echoline::augment

#else

namespace echoline::augment {

bool has_byte_products() { return false; }
void byte_rows(const View&, const ByteWeights&, std::size_t, const std::uint8_t*, std::uint8_t*) {}
void byte_columns(const std::uint8_t*, std::size_t, std::size_t, const Weights&, const ByteWeights&,
                  std::uint8_t*) {}

}  // namespace echoline::augment
#endif
