// Written with intrinsics, because Highway 1.0 has neither of the two instructions that make it
// fast: sums of four products of bytes, and a choice of any 64 bytes.
#include "augment/byte_passes.h"

#if defined(__x86_64__)
// g++ 12 warns of the undefined vectors in its own header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>

#include "augment/resize_passes_plain.h"

#define ECHOLINE_BYTE_PASSES [[gnu::target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")]]

namespace echoline::augment {
namespace {

constexpr std::size_t kRows = 4;  // of one step of the horizontal pass
constexpr std::size_t kPlanes = ByteWeights::kPlanes;

// The sums of 16 outputs, for each byte of the weights.
struct PlaneSums {
  __m512i planes[kPlanes];
};

ECHOLINE_BYTE_PASSES inline PlaneSums no_sums() {
  const __m512i zero = _mm512_setzero_si512();
  return {{_mm512_set1_epi32(kHalf), zero, zero}};
}

// Not yet clamped.
ECHOLINE_BYTE_PASSES inline __m512i value_of(const PlaneSums& sums) {
  const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(sums.planes[2], 8), sums.planes[1]);
  const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(high, 8), sums.planes[0]);
  return _mm512_srai_epi32(sum, kWeightBits);
}

// Clamped to bytes. Each 16 bytes have four values of `a`, then of `b`, `c` and `d`.
ECHOLINE_BYTE_PASSES inline __m512i bytes_of(__m512i a, __m512i b, __m512i c, __m512i d) {
  return _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
}

// One group of outputs of four rows: 16 bytes for each row, of which the last one means nothing.
ECHOLINE_BYTE_PASSES inline __m512i row_group(const std::uint8_t* const (&rows)[kRows],
                                              const ByteWeights& weights,
                                              const ByteWeights::Group& group) {
  const std::uint8_t* vectors = weights.vector(group.places);
  const __m512i places = _mm512_loadu_si512(vectors);
  PlaneSums sums[kRows] = {no_sums(), no_sums(), no_sums(), no_sums()};
  std::size_t at = group.first;
  for (std::uint32_t quad = 0; quad < group.quads; ++quad, at += 12) {
    __m512i weight[kPlanes];
    for (__m512i& plane : weight) plane = _mm512_loadu_si512(vectors += ByteWeights::kVector);
    for (std::size_t y = 0; y < kRows; ++y) {
      const __m512i taps = _mm512_permutexvar_epi8(places, _mm512_loadu_si512(rows[y] + at));
      for (std::size_t b = 0; b < kPlanes; ++b) {
        sums[y].planes[b] = _mm512_dpbusd_epi32(sums[y].planes[b], taps, weight[b]);
      }
    }
  }
  const __m512i bytes =
      bytes_of(value_of(sums[0]), value_of(sums[1]), value_of(sums[2]), value_of(sums[3]));
  // From values of each row in each part to a part for each row.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, bytes);
}

ECHOLINE_BYTE_PASSES inline void store_rows(__m512i pixels, __mmask16 mask, std::size_t at,
                                            std::uint8_t* const (&out)[kRows]) {
  _mm_mask_storeu_epi8(out[0] + at, mask, _mm512_castsi512_si128(pixels));
  _mm_mask_storeu_epi8(out[1] + at, mask, _mm512_extracti32x4_epi32(pixels, 1));
  _mm_mask_storeu_epi8(out[2] + at, mask, _mm512_extracti32x4_epi32(pixels, 2));
  _mm_mask_storeu_epi8(out[3] + at, mask, _mm512_extracti32x4_epi32(pixels, 3));
}

ECHOLINE_BYTE_PASSES void four_rows(const std::uint8_t* const (&rows)[kRows],
                                    const ByteWeights& weights, std::size_t outputs,
                                    std::uint8_t* const (&out)[kRows]) {
  constexpr std::size_t kGroupBytes = ByteWeights::kOutputs * 3;
  const std::vector<ByteWeights::Group>& groups = weights.groups();
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < groups.size(); ++i, at += kGroupBytes) {
    const __m512i pixels = row_group(rows, weights, groups[i]);
    // The next group overwrites the last byte.
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[0] + at), _mm512_castsi512_si128(pixels));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[1] + at), _mm512_extracti32x4_epi32(pixels, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[2] + at), _mm512_extracti32x4_epi32(pixels, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[3] + at), _mm512_extracti32x4_epi32(pixels, 3));
  }
  const auto mask = static_cast<__mmask16>((1U << (outputs * 3 - at)) - 1);
  store_rows(row_group(rows, weights, groups.back()), mask, at, out);
}

// The sums of 64 columns.
struct ColumnSums {
  PlaneSums parts[4];
};

// Adds four rows. In each 32 bits of a vector are the four taps of a column.
ECHOLINE_BYTE_PASSES inline void add_rows(const __m512i (&row)[4], const std::uint32_t* weights,
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
      sums.parts[i].planes[b] = _mm512_dpbusd_epi32(sums.parts[i].planes[b], taps[i], weight);
    }
  }
}

// 64 columns of one output row.
ECHOLINE_BYTE_PASSES inline void column_vector(const std::uint8_t* rows, std::size_t stride,
                                               std::size_t count, const std::uint32_t* weights,
                                               std::uint8_t* out) {
  ColumnSums sums{{no_sums(), no_sums(), no_sums(), no_sums()}};
  for (std::size_t k = 0; k < count; k += 4, rows += 4 * stride, weights += kPlanes) {
    __m512i row[4];
    for (std::size_t i = 0; i < 4; ++i) {
      // The weight of a row beyond the last one is 0.
      row[i] = _mm512_loadu_si512(k + i < count ? rows + i * stride : rows);
    }
    add_rows(row, weights, sums);
  }
  const __m512i bytes = bytes_of(value_of(sums.parts[0]), value_of(sums.parts[1]),
                                 value_of(sums.parts[2]), value_of(sums.parts[3]));
  _mm512_storeu_si512(out, bytes);
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
    for (std::size_t x = 0; x < row_bytes; x += ByteWeights::kVector) {
      // The last vector overlaps the one before it.
      const std::size_t at = std::min(x, row_bytes - ByteWeights::kVector);
      column_vector(first + at, stride, taps.count, bytes.column_quads(i), out + at);
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
