// Kernel code: makes rows of one length from ragged rows.
#pragma once

#include "cuda/device_code.h"
#include "cuda/kernel_params.h"

namespace echoline::client::cuda {

// Bytes that a thread writes at once; rows are multiples of it.
ECHOLINE_DEVICE std::uint32_t pad_vector_bytes(const PadParams& p) {
  if (p.row_bytes % 8 == 0 && aligned(p.out, 8)) return 8;
  if (p.row_bytes % 4 == 0 && aligned(p.out, 4)) return 4;
  return 1;
}

ECHOLINE_DEVICE std::uint64_t pad_units(const PadParams& p) {
  const std::uint32_t vector_bytes = pad_vector_bytes(p);
  return vector_bytes == 8 ? p.row_bytes / 8 : vector_bytes == 4 ? p.row_bytes / 4 : p.row_bytes;
}

// Eight bytes filled with the element's bits, repeated. No element crosses such eight bytes.
ECHOLINE_DEVICE std::uint64_t fill_pattern(const PadParams& p) {
  if (p.element_bytes == 8) return p.fill;
  const std::uint32_t bits = 8 * p.element_bytes;
  std::uint64_t pattern = p.fill & ((std::uint64_t{1} << bits) - 1);
  for (std::uint32_t filled = bits; filled < 64; filled *= 2) pattern |= pattern << filled;
  return pattern;
}

// Writes bytes [first, first + kBytes) of a row. The values of a row may have any alignment.
template <int kBytes>
ECHOLINE_DEVICE void pad_bytes(const PadParams& p, std::uint32_t row, std::uint64_t first) {
  const std::uint8_t* const values = p.values + (p.offsets[row] - p.offsets[0]);
  const std::uint64_t length = p.offsets[row + 1] - p.offsets[row];
  std::uint8_t* const out = p.out + row * p.row_bytes + first;
  if (first + kBytes <= length && aligned(values + first, kBytes)) {
    return store(out, load<Vector<std::uint8_t, kBytes>>(values + first));
  }
  const std::uint64_t fill = fill_pattern(p);
  Vector<std::uint8_t, kBytes> gathered;
  ECHOLINE_UNROLL
  for (int k = 0; k < kBytes; ++k) {
    const std::uint64_t byte = first + k;
    gathered.numbers[k] =
        byte < length ? values[byte] : static_cast<std::uint8_t>(fill >> (8 * (byte % 8)));
  }
  store(out, gathered);
}

ECHOLINE_DEVICE void pad(const PadParams& p, const Thread& thread) {
  const std::uint32_t vector_bytes = pad_vector_bytes(p);
  for_each_row(thread, p.rows, pad_units(p), [&](std::uint32_t row) {
    switch (vector_bytes) {
      case 8:
        return pad_bytes<8>(p, row, thread.unit * 8);
      case 4:
        return pad_bytes<4>(p, row, thread.unit * 4);
      default:
        return pad_bytes<1>(p, row, thread.unit);
    }
  });
}

}  // namespace echoline::client::cuda
