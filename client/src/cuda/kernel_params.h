// The kernels' parameters: one structure for each kernel, passed by value. Plain C types with a
// fixed layout, the same for nvcc and the host's compiler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::client::cuda {

inline constexpr std::uint32_t kChannelsMax = 8;

// The order of normalised pixels: one plane for each channel, or the order of the input.
enum class Layout { kChw, kHwc };

// Kernels "echoline_normalize_<out>_<layout>": <out> f32, f16 or bf16, <layout> chw or hwc.
// uint8 pixels [rows, height, width, channels] become out[...] = pixel * scale[c] + shift[c],
// rounded to nearest even, as [rows, channels, height, width] or in the order of the input.
struct NormalizeParams {
  const std::uint8_t* pixels;
  void* out;
  const std::uint8_t* flips;  // one byte a row, 1: mirrored left to right; null: no row is
  std::uint32_t rows;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t channels;  // 1 to kChannelsMax
  float scale[kChannelsMax];
  float shift[kChannelsMax];
};

// Kernel "echoline_flip": mirrors in the same way, without converting; elements of any size.
struct FlipParams {
  const std::uint8_t* pixels;
  std::uint8_t* out;
  const std::uint8_t* flips;
  std::uint32_t rows;
  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t pixel_bytes;
};

// Kernel "echoline_pad": ragged rows become rows of row_bytes each. Row i is bytes [offsets[i] -
// offsets[0], offsets[i + 1] - offsets[0]) of values. Short rows are filled, long rows are cut.
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
