// What the kernels take: one structure each, by value, the same for nvcc and the host's compiler.
// Plain C types, fixed layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::client::cuda {

inline constexpr std::uint32_t kChannelsMax = 8;

// The order of normalised pixels: a plane a channel, or as they came.
enum class Layout { kChw, kHwc };

// Kernels "echoline_normalize_<out>_<layout>": <out> f32, f16 or bf16, <layout> chw or hwc.
// uint8 pixels [rows, height, width, channels] become out[...] = pixel * scale[c] + shift[c],
// rounded to nearest even, as [rows, channels, height, width] or in the order of the input.
struct NormalizeParams {
  const std::uint8_t* pixels;
  void* out;
  const std::uint8_t* flips;  // one byte a row, 1: mirrored left to right; null: none is
  std::uint32_t rows;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t channels;  // 1 to kChannelsMax
  float scale[kChannelsMax];
  float shift[kChannelsMax];
};

// Kernel "echoline_flip": the same mirroring of pixels that stay as they are, of any element size.
struct FlipParams {
  const std::uint8_t* pixels;
  std::uint8_t* out;
  const std::uint8_t* flips;
  std::uint32_t rows;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t pixel_bytes;
};

// Kernel "echoline_pad": ragged rows, row i being bytes [offsets[i], offsets[i + 1]) of values less
// offsets[0], become rows of row_bytes each; what a row lacks is filled, what it has too much of is
// left out.
struct PadParams {
  const std::uint8_t* values;
  const std::uint64_t* offsets;  // rows + 1
  std::uint8_t* out;
  std::uint64_t row_bytes;      // a multiple of element_bytes
  std::uint64_t fill;           // the element's bits
  std::uint32_t element_bytes;  // 1, 2, 4 or 8
  std::uint32_t rows;
};

static_assert(sizeof(NormalizeParams) == 104 && sizeof(FlipParams) == 40 &&
              sizeof(PadParams) == 48);

}  // namespace echoline::client::cuda
