// The two inner loops of a resize, with a variant for CPUs with AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/resize_weights.h"

namespace echoline::augment {

// Resizes each of `count` rows, `stride` bytes apart, to weights.taps.size() pixels; writes dense
// rows.
void resize_rows(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                 std::uint32_t channels, const Weights& weights, std::uint8_t* out);

// Writes weights.taps.size() dense rows, each a weighted sum of input rows. `rows` points to input
// row number `first_row`.
void resize_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    std::uint32_t first_row, const Weights& weights, std::uint8_t* out);

}  // namespace echoline::augment
