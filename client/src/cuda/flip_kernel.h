// Kernel code: mirrors pixels without converting them.
#pragma once

#include "cuda/device_code.h"
#include "cuda/kernel_params.h"

namespace echoline::client::cuda {

// Bytes of a line that a thread writes at once. Mirrored pixels are read byte by byte, as they may
// have any size: with more bytes, the reads of adjacent threads would be too far apart.
inline constexpr std::uint32_t kFlipVectorBytes = 8;

ECHOLINE_DEVICE bool flip_is_vectorized(const FlipParams& p) {
  return std::uint64_t{p.width} * p.pixel_bytes % kFlipVectorBytes == 0 &&
         aligned(p.out, kFlipVectorBytes) && aligned(p.pixels, kFlipVectorBytes);
}

ECHOLINE_DEVICE std::uint64_t flip_units(const FlipParams& p) {
  const std::uint64_t bytes = std::uint64_t{p.height} * p.width * p.pixel_bytes;
  return flip_is_vectorized(p) ? bytes / kFlipVectorBytes : bytes;
}

// Writes bytes [first, first + kBytes) of an image; all are in one line.
template <int kBytes>
ECHOLINE_DEVICE void flip_bytes(const FlipParams& p, std::uint32_t row, std::uint32_t first) {
  const std::uint64_t image = std::uint64_t{row} * p.height * p.width * p.pixel_bytes;
  const std::uint8_t* const pixels = p.pixels + image;
  std::uint8_t* const out = p.out + image + first;
  if (p.flips == nullptr || p.flips[row] == 0) {
    return store(out, load<Vector<std::uint8_t, kBytes>>(pixels + first));
  }
  const std::uint32_t x = first / p.pixel_bytes % p.width;
  const std::uint32_t line = first / p.pixel_bytes - x;
  std::uint64_t pixel = std::uint64_t{line + (p.width - 1 - x)} * p.pixel_bytes;
  std::uint32_t byte = first % p.pixel_bytes;
  Vector<std::uint8_t, kBytes> gathered;
  ECHOLINE_UNROLL
  for (int k = 0; k < kBytes; ++k) {
    gathered.numbers[k] = pixels[pixel + byte];
    if (++byte == p.pixel_bytes) {
      byte = 0;
      pixel -= p.pixel_bytes;
    }
  }
  store(out, gathered);
}

ECHOLINE_DEVICE void flip(const FlipParams& p, const Thread& thread) {
  const bool vectorized = flip_is_vectorized(p);
  const auto unit = static_cast<std::uint32_t>(thread.unit);
  for_each_row(thread, p.rows, flip_units(p), [&](std::uint32_t row) {
    if (vectorized) {
      flip_bytes<kFlipVectorBytes>(p, row, unit * kFlipVectorBytes);
    } else {
      flip_bytes<1>(p, row, unit);
    }
  });
}

}  // namespace echoline::client::cuda
