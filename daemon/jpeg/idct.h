// Samples from coefficients: ITU-T T.81, A.3.3 (inverse DCT), A.3.4 (dequantization) and A.3.1
// (level shift), with the arithmetic of libjpeg-turbo's accurate integer method on x86, bit for
// bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "jpeg/markers.h"

namespace echoline::jpeg {

// Steps of a quantization table, in natural order.
using Steps = std::array<std::int16_t, kBlockSamples>;
Steps steps_of(Bytes zigzag);

// One block: 64 coefficients in natural order, and the place of its 8 rows of 8 samples.
struct BlockTask {
  const std::int16_t* coefficients = nullptr;
  std::uint8_t* out = nullptr;
};

// The samples of each block, in rows that are `stride` bytes apart.
void idct_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps, std::size_t stride);
// The same for blocks without AC coefficients: all samples are equal.
void fill_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps, std::size_t stride);

}  // namespace echoline::jpeg
