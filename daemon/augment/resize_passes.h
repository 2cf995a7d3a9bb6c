// The two inner loops of a resize. Free functions on pixels; the best variant for the CPU is chosen
// once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/resize_weights.h"

namespace echoline::augment {

// Rows of `channels`-channel pixels, `stride` bytes apart, to dense rows of weights.taps.size()
// pixels.
void resize_rows(const std::uint8_t* rows, std::size_t stride, std::size_t count,
                 std::uint32_t channels, const Weights& weights, std::uint8_t* out);

// Columns: each output row, dense, is a weighted sum of rows; `first_row` is the number of the row
// that `rows` points to.
void resize_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    std::uint32_t first_row, const Weights& weights, std::uint8_t* out);

}  // namespace echoline::augment
