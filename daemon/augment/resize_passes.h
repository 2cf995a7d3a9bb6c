// The two inner loops of a resize, with vector instructions where the CPU has them. All variants
// give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "augment/byte_passes.h"
#include "augment/resize_weights.h"
#include "augment/view.h"
#include "base/buffer.h"

namespace echoline::augment {

// Weights in the form of the vector loops: pairs of neighbours, each split into 15 low bits and the
// rest, in halves of 32 bits: the sums of 16-bit products are fast. A missing neighbour is 0.
struct WeightPair {
  std::int32_t low = 0;
  std::int32_t high = 0;
};

// Whether the passes use byte_passes.h: if the CPU can, and Highway uses vectors of that size.
bool uses_byte_products();

// The reusable state of one thread that runs the passes.
struct PassScratch {
  bool byte_products = uses_byte_products();
  ByteWeights bytes;
  std::vector<WeightPair> pairs;
  Buffer last_row;  // a copy that is safe to read beyond its end
};

// Resizes each row of the view to weights.taps.size() pixels; writes dense rows. The weights
// already have the view's mirror.
void resize_rows(const View& view, const Weights& weights, PassScratch& scratch, std::uint8_t* out);

// Writes weights.taps.size() dense rows, each a weighted sum of input rows, which are `stride`
// bytes apart.
void resize_columns(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                    const Weights& weights, PassScratch& scratch, std::uint8_t* out);

// The definition of the two, without vector instructions of its own.
void resize_rows_plain(const View& view, const Weights& weights, std::uint8_t* out);
void resize_columns_plain(const std::uint8_t* rows, std::size_t stride, std::size_t row_bytes,
                          const Weights& weights, std::uint8_t* out);

}  // namespace echoline::augment
