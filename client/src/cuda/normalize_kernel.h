// Kernel code: pixel * scale[c] + shift[c], then rounded to the element's type. A thread writes 16
// bytes if lines are multiples of 16 bytes, as those of photos are; else one pixel.
#pragma once

#include <cmath>

#include "cuda/device_code.h"
#include "cuda/kernel_params.h"

namespace echoline::client::cuda {

// Whether a thread writes 16 bytes at once; lines are multiples of that.
ECHOLINE_DEVICE bool normalize_is_vectorized(const NormalizeParams& p, Layout layout,
                                             std::uint32_t element_bytes) {
  const bool has_code = p.channels == 1 || p.channels == 3 || p.channels == 4;
  const std::uint64_t line = layout == Layout::kChw ? p.width : std::uint64_t{p.width} * p.channels;
  return has_code && line * element_bytes % 16 == 0 && aligned(p.out, 16) && aligned(p.pixels, 4);
}

// Threads for one row of the batch: one per 16 bytes of a plane or of the whole image, or one per
// pixel.
ECHOLINE_DEVICE std::uint64_t normalize_units(const NormalizeParams& p, Layout layout,
                                              std::uint32_t element_bytes) {
  const std::uint64_t pixels = std::uint64_t{p.height} * p.width;
  if (!normalize_is_vectorized(p, layout, element_bytes)) return pixels;
  return (layout == Layout::kChw ? pixels : pixels * p.channels) * element_bytes / 16;
}

// Output elements that a thread writes at once: 16 bytes.
template <typename Element>
inline constexpr std::uint32_t kVectorElements = 16 / sizeof(typename Element::Bits);

// The input and output of one row of the batch, and whether it is mirrored.
template <typename Element>
struct ImageOf {
  const std::uint8_t* pixels;
  typename Element::Bits* out;
  bool mirrored;

  ECHOLINE_DEVICE ImageOf(const NormalizeParams& p, std::uint32_t row) {
    const std::uint64_t begin = std::uint64_t{row} * p.height * p.width * p.channels;
    pixels = p.pixels + begin;
    out = static_cast<typename Element::Bits*>(p.out) + begin;
    mirrored = p.flips != nullptr && p.flips[row] != 0;
  }
};

template <typename Element>
ECHOLINE_DEVICE typename Element::Bits normalized(std::uint32_t pixel, float scale, float shift) {
  return Element::round(fmaf(static_cast<float>(pixel), scale, shift));
}

// Writes one pixel; correct for all sizes.
template <typename Element, Layout layout>
ECHOLINE_DEVICE void normalize_pixel(const NormalizeParams& p, std::uint32_t row,
                                     std::uint32_t unit) {
  const ImageOf<Element> image(p, row);
  const std::uint32_t x = unit % p.width;
  const std::uint64_t from = unit - x + (image.mirrored ? p.width - 1 - x : x);
  for (std::uint32_t c = 0; c < p.channels; ++c) {
    const std::uint64_t to = layout == Layout::kChw ? std::uint64_t{c} * p.height * p.width + unit
                                                    : std::uint64_t{unit} * p.channels + c;
    image.out[to] =
        normalized<Element>(image.pixels[from * p.channels + c], p.scale[c], p.shift[c]);
  }
}

// Writes 16 bytes of each channel's plane, for pixels next to each other. Reads the pixels as
// words.
template <typename Element, int kChannels, bool kMirrored>
ECHOLINE_DEVICE void write_planes(const NormalizeParams& p, const std::uint8_t* from,
                                  typename Element::Bits* to) {
  constexpr int kPixels = kVectorElements<Element>;
  std::uint32_t words[kPixels * kChannels / 4];
  ECHOLINE_UNROLL
  for (int w = 0; w < kPixels * kChannels / 4; ++w) {
    words[w] = load<Vector<std::uint32_t, 1>>(from + 4 * w).numbers[0];
  }
  ECHOLINE_UNROLL
  for (int c = 0; c < kChannels; ++c) {
    Vector<typename Element::Bits, kPixels> plane;
    ECHOLINE_UNROLL
    for (int k = 0; k < kPixels; ++k) {
      const int byte = (kMirrored ? kPixels - 1 - k : k) * kChannels + c;
      const std::uint32_t pixel = words[byte / 4] >> (8 * (byte % 4)) & 255;
      plane.numbers[k] = normalized<Element>(pixel, p.scale[c], p.shift[c]);
    }
    store(to + std::uint64_t{p.height} * p.width * c, plane);
  }
}

template <typename Element, int kChannels>
ECHOLINE_DEVICE void normalize_planes(const NormalizeParams& p, std::uint32_t row,
                                      std::uint32_t unit) {
  constexpr std::uint32_t kPixels = kVectorElements<Element>;
  const ImageOf<Element> image(p, row);
  const std::uint32_t first = unit * kPixels;  // in the image; has less than 2^32 values
  const std::uint32_t x = first % p.width;
  const std::uint32_t from = first - x + (image.mirrored ? p.width - kPixels - x : x);
  const std::uint8_t* const bytes = image.pixels + std::uint64_t{from} * kChannels;
  if (image.mirrored) {
    write_planes<Element, kChannels, true>(p, bytes, image.out + first);
  } else {
    write_planes<Element, kChannels, false>(p, bytes, image.out + first);
  }
}

// Writes 16 bytes of output in the order of the input. Adjacent threads read adjacent bytes. The
// bytes may begin inside a pixel, at channel `phase`.
template <typename Element, int kChannels>
ECHOLINE_DEVICE void normalize_run(const NormalizeParams& p, std::uint32_t row,
                                   std::uint32_t unit) {
  constexpr int kValues = kVectorElements<Element>;
  const ImageOf<Element> image(p, row);
  const std::uint32_t first = unit * kValues;
  const std::uint32_t phase = first % kChannels;
  const std::uint32_t x = first / kChannels % p.width;
  const std::uint32_t line = first / kChannels - x;
  const std::uint8_t* const from =
      image.pixels + std::uint64_t{line + (image.mirrored ? p.width - 1 - x : x)} * kChannels;

  float scale[kChannels];
  float shift[kChannels];
  ECHOLINE_UNROLL
  for (int k = 0; k < kChannels; ++k) {
    const std::uint32_t channel = (phase + k) % kChannels;
    scale[k] = p.scale[channel];
    shift[k] = p.shift[channel];
  }

  Vector<typename Element::Bits, kValues> run;
  ECHOLINE_UNROLL
  for (int k = 0; k < kValues; ++k) {
    const int value = static_cast<int>(phase) + k;  // counted from the first channel of pixel x
    const int back = image.mirrored ? 2 * kChannels * (value / kChannels) : 0;
    run.numbers[k] =
        normalized<Element>(from[value - back], scale[k % kChannels], shift[k % kChannels]);
  }
  store(image.out + first, run);
}

template <typename Element, Layout layout, int kChannels>
ECHOLINE_DEVICE void normalize_vector(const NormalizeParams& p, std::uint32_t row,
                                      std::uint32_t unit) {
  if constexpr (layout == Layout::kChw) {
    normalize_planes<Element, kChannels>(p, row, unit);
  } else {
    normalize_run<Element, kChannels>(p, row, unit);
  }
}

template <typename Element, Layout layout>
ECHOLINE_DEVICE void normalize_unit(const NormalizeParams& p, std::uint32_t row,
                                    std::uint32_t unit) {
  if (!normalize_is_vectorized(p, layout, sizeof(typename Element::Bits))) {
    return normalize_pixel<Element, layout>(p, row, unit);
  }
  switch (p.channels) {
    case 1:
      return normalize_vector<Element, layout, 1>(p, row, unit);
    case 3:
      return normalize_vector<Element, layout, 3>(p, row, unit);
    default:
      return normalize_vector<Element, layout, 4>(p, row, unit);
  }
}

template <typename Element, Layout layout>
ECHOLINE_DEVICE void normalize(const NormalizeParams& p, const Thread& thread) {
  const std::uint64_t units = normalize_units(p, layout, sizeof(typename Element::Bits));
  for_each_row(thread, p.rows, units, [&](std::uint32_t row) {
    normalize_unit<Element, layout>(p, row, static_cast<std::uint32_t>(thread.unit));
  });
}

}  // namespace echoline::client::cuda
