// Samples of a reduced picture from coefficients: each is the mean of 2 x 2, 4 x 4 or 8 x 8 samples
// of the block, computed directly from the coefficients. With the arithmetic of libjpeg-turbo's
// scaled inverse DCTs (jidctred.c), bit for bit where the coefficients are those of a picture.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/idct.h"

namespace echoline::jpeg {

// As idct_blocks, but each block has 8 / `by` rows and columns of samples; `by` is 1, 2, 4 or 8:
// chroma that has fewer samples is reduced less than luma, or not at all.
void reduced_idct_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                         std::size_t stride, std::uint32_t by);
// The same for blocks without AC coefficients.
void reduced_fill_blocks(const BlockTask* tasks, std::size_t count, const Steps& steps,
                         std::size_t stride, std::uint32_t by);

}  // namespace echoline::jpeg
