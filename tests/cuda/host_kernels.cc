#include "cuda/host_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cuda/kernel_params.h"

namespace echoline::cuda_test {
namespace {

using client::cuda::FlipParams;
using client::cuda::NormalizeParams;
using client::cuda::PadParams;

// A float as IEEE 754 binary16, rounded to nearest, ties to even.
std::uint16_t half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7fff;
  if (magnitude >= 0x47800000) return sign | 0x7c00;  // 65536 or more
  if (magnitude < 0x38800000) {
    // Below 2^-14. The last bit of the sum is the last bit of the subnormal result, so the addition
    // rounds.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(sum) -
                                             std::bit_cast<std::uint32_t>(0.5F));
  }
  magnitude -= (127 - 15) << 23;
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<std::uint16_t>(magnitude >> 13);
}

// A float as bfloat16: its upper half, rounded to nearest, ties to even.
std::uint16_t bfloat(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  bits += 0x7fff + (bits >> 16 & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

float as_it_is(float value) { return value; }

bool mirrored(const std::uint8_t* flips, std::uint32_t row) {
  return flips != nullptr && flips[row] != 0;
}

template <auto Round, bool ChannelsFirst>
void normalize(void** parameters) {
  const auto& p = *static_cast<const NormalizeParams*>(parameters[0]);
  auto* out = static_cast<decltype(Round(0.0F))*>(p.out);
  const std::size_t plane = std::size_t{p.height} * p.width;
  const std::size_t row_size = plane * p.channels;
  for (std::uint32_t row = 0; row < p.rows; ++row) {
    for (std::size_t i = 0; i < plane; ++i) {
      const std::size_t x = i % p.width;
      const std::size_t from = mirrored(p.flips, row) ? i - x + (p.width - 1 - x) : i;
      for (std::uint32_t c = 0; c < p.channels; ++c) {
        const float pixel = p.pixels[row * row_size + from * p.channels + c];
        const std::size_t to = ChannelsFirst ? c * plane + i : i * p.channels + c;
        out[row * row_size + to] = Round(std::fma(pixel, p.scale[c], p.shift[c]));
      }
    }
  }
}

void flip(void** parameters) {
  const auto& p = *static_cast<const FlipParams*>(parameters[0]);
  const std::size_t lines = std::size_t{p.rows} * p.height;
  for (std::size_t line = 0; line < lines; ++line) {
    const bool mirror = mirrored(p.flips, static_cast<std::uint32_t>(line / p.height));
    for (std::size_t x = 0; x < p.width; ++x) {
      const std::size_t from = mirror ? p.width - 1 - x : x;
      std::memcpy(p.out + (line * p.width + x) * p.pixel_bytes,
                  p.pixels + (line * p.width + from) * p.pixel_bytes, p.pixel_bytes);
    }
  }
}

void pad(void** parameters) {
  const auto& p = *static_cast<const PadParams*>(parameters[0]);
  for (std::uint32_t row = 0; row < p.rows; ++row) {
    const std::uint8_t* from = p.values + (p.offsets[row] - p.offsets[0]);
    const std::uint64_t bytes = p.offsets[row + 1] - p.offsets[row];
    for (std::uint64_t i = 0; i < p.row_bytes; ++i) {
      const auto fill = static_cast<std::uint8_t>(p.fill >> (8 * (i % p.element_bytes)));
      p.out[row * p.row_bytes + i] = i < bytes ? from[i] : fill;
    }
  }
}

constexpr HostKernel kKernels[] = {
    {"echoline_normalize_f32_chw", normalize<as_it_is, true>},
    {"echoline_normalize_f32_hwc", normalize<as_it_is, false>},
    {"echoline_normalize_f16_chw", normalize<half, true>},
    {"echoline_normalize_f16_hwc", normalize<half, false>},
    {"echoline_normalize_bf16_chw", normalize<bfloat, true>},
    {"echoline_normalize_bf16_hwc", normalize<bfloat, false>},
    {"echoline_flip", flip},
    {"echoline_pad", pad},
};

}  // namespace

std::span<const HostKernel> host_kernels() { return kKernels; }

}  // namespace echoline::cuda_test
