// Chroma samples for every pixel of a row: triangle filters, with the arithmetic of libjpeg's
// "fancy upsampling". ITU-T T.81 leaves upsampling to the decoder (A.1.1 only says what the factors
// mean). The loops may read and write up to kRowPadding (planes.h) beyond the end of a row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::jpeg {

// Two samples for each of `count`: 3/4 of the nearer and 1/4 of the farther neighbour. Reads in[-1]
// and in[count], which repeat the outer samples at the edges of a picture.
void upsample_columns(const std::uint8_t* in, std::size_t count, std::uint8_t* out);

// One sample for each of `count`: 3/4 of `near`, 1/4 of `far`. `below`: the row is for the lower of
// the two rows of pixels, which is rounded the other way.
void upsample_rows(const std::uint8_t* near, const std::uint8_t* far, bool below, std::size_t count,
                   std::uint8_t* out);

// Both at once, rounded once: two samples for each of `count`. Reads one column more on each side.
void upsample_both(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
                   std::uint8_t* out);

// Repeats each sample, `times` times.
void repeat_columns(const std::uint8_t* in, std::size_t count, std::size_t times,
                    std::uint8_t* out);

}  // namespace echoline::jpeg
