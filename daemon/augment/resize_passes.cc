#include "augment/resize_passes.h"

#include <algorithm>

namespace echoline::augment {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);
constexpr std::size_t kBlock =
    256;  // columns per step of the vertical pass: its sums stay in the cache

[[gnu::always_inline]] inline std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

template <std::size_t kChannels>
[[gnu::always_inline]] inline void one_row(const std::uint8_t* row, const Weights& weights,
                                           std::uint8_t* out) {
  const std::int32_t* values = weights.values.data();
  for (const Taps& taps : weights.taps) {
    std::int32_t sums[kChannels];
    for (std::size_t c = 0; c < kChannels; ++c) sums[c] = kHalf;
    const std::uint8_t* pixel = row + taps.first * kChannels;
    for (std::uint32_t k = 0; k < taps.count; ++k, pixel += kChannels) {
      for (std::size_t c = 0; c < kChannels; ++c) sums[c] += values[k] * pixel[c];
    }
    for (std::size_t c = 0; c < kChannels; ++c) *out++ = to_byte(sums[c]);
    values += weights.stride;
  }
}

[[gnu::always_inline]] inline void one_block(const std::uint8_t* rows, std::size_t stride,
                                             std::size_t bytes, const std::int32_t* values,
                                             std::size_t count, std::uint8_t* out) {
  // Row by row over a whole block, so that the compiler vectorises the inner loop.
  std::int32_t sums[kBlock];
  for (std::size_t x = 0; x < bytes; ++x) sums[x] = kHalf;
  for (std::size_t k = 0; k < count; ++k, rows += stride) {
    const std::int32_t weight = values[k];
    for (std::size_t x = 0; x < bytes; ++x) sums[x] += weight * rows[x];
  }
  for (std::size_t x = 0; x < bytes; ++x) out[x] = to_byte(sums[x]);
}

[[gnu::always_inline]] inline void one_column_row(const std::uint8_t* rows, std::size_t stride,
                                                  std::size_t row_bytes, const std::int32_t* values,
                                                  std::size_t count, std::uint8_t* out) {
  std::size_t x = 0;
  for (; x + kBlock <= row_bytes; x += kBlock) {
    one_block(rows + x, stride, kBlock, values, count, out + x);
  }
  if (x < row_bytes) one_block(rows + x, stride, row_bytes - x, values, count, out + x);
}

using RowPass = void (*)(const std::uint8_t*, const Weights&, std::uint8_t*);
using ColumnPass = void (*)(const std::uint8_t*, std::size_t, std::size_t, const std::int32_t*,
                            std::size_t, std::uint8_t*);

struct Passes {
  RowPass gray;
  RowPass rgb;
  ColumnPass columns;
};

#if defined(__x86_64__)
// The same code compiled for AVX2. The build itself must run on any x86-64, so the variant is
// chosen at run time.
template <std::size_t kChannels>
[[gnu::target("avx2")]] void one_row_avx2(const std::uint8_t* row, const Weights& weights,
                                          std::uint8_t* out) {
  one_row<kChannels>(row, weights, out);
}

[[gnu::target("avx2")]] void one_column_row_avx2(const std::uint8_t* rows, std::size_t stride,
                                                 std::size_t row_bytes, const std::int32_t* values,
                                                 std::size_t count, std::uint8_t* out) {
  one_column_row(rows, stride, row_bytes, values, count, out);
}
#endif

template <std::size_t kChannels>
void one_row_plain(const std::uint8_t* row, const Weights& weights, std::uint8_t* out) {
  one_row<kChannels>(row, weights, out);
}

void one_column_row_plain(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                          const std::int32_t* values, std::size_t count, std::uint8_t* out) {
  one_column_row(rows, stride, row_bytes, values, count, out);
}

Passes choose_passes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return {one_row_avx2<1>, one_row_avx2<3>, one_column_row_avx2};
#endif
  return {one_row_plain<1>, one_row_plain<3>, one_column_row_plain};
}

const Passes& passes() {
  static const Passes chosen = choose_passes();
  return chosen;
}

}  // namespace

void resize_rows(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                 std::uint32_t channels, const Weights& weights, std::uint8_t* out) {
  const RowPass pass = channels == 3 ? passes().rgb : passes().gray;
  const std::size_t out_bytes = weights.taps.size() * channels;
  for (std::size_t y = 0; y < count; ++y) pass(rows + y * stride, weights, out + y * out_bytes);
}

void resize_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    std::uint32_t first_row, const Weights& weights, std::uint8_t* out) {
  const ColumnPass pass = passes().columns;
  for (std::size_t i = 0; i < weights.taps.size(); ++i, out += row_bytes) {
    const std::span<const std::int32_t> values = weights.of(i);
    pass(rows + (weights.taps[i].first - first_row) * stride, stride, row_bytes, values.data(),
         values.size(), out);
  }
}

}  // namespace echoline::augment
