#include "recipes/tones.h"

#include <algorithm>
#include <array>

#include "decode/colors.h"

namespace echoline::recipes {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::uint32_t, 256>;

// The value i becomes change(i).
template <typename Change>
Table table_of(const Change& change) {
  Table table;
  for (int i = 0; i < 256; ++i) {
    table[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(change(i));
  }
  return table;
}

void replace(std::span<std::uint8_t> pixels, const Table& table, std::size_t first = 0,
             std::size_t step = 1) {
  for (std::size_t i = first; i < pixels.size(); i += step) pixels[i] = table[pixels[i]];
}

Histogram histogram_of(std::span<const std::uint8_t> pixels, std::size_t channel,
                       std::size_t channels) {
  Histogram counts{};
  for (std::size_t i = channel; i < pixels.size(); i += channels) ++counts[pixels[i]];
  return counts;
}

Table stretched(const Histogram& counts) {
  const auto used = [](std::uint32_t count) { return count > 0; };
  const auto low = std::find_if(counts.begin(), counts.end(), used) - counts.begin();
  const auto high = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), used) - 1;
  if (high <= low) return table_of([](int value) { return value; });
  const double scale = 255.0 / static_cast<double>(high - low);
  const double offset = -static_cast<double>(low) * scale;
  return table_of(
      [&](int value) { return std::clamp(static_cast<int>(value * scale + offset), 0, 255); });
}

Table equalized(const Histogram& counts) {
  std::uint64_t sum = 0;
  std::uint64_t last = 0;  // the count of the greatest value
  for (const std::uint32_t count : counts) {
    sum += count;
    if (count > 0) last = count;
  }
  // 0 also for a single value: then the sum is the last count.
  const std::uint64_t step = (sum - last) / 255;
  if (step == 0) return table_of([](int value) { return value; });
  std::uint64_t below = step / 2;
  return table_of([&](int value) {
    const std::uint64_t level = below / step;
    below += counts[static_cast<std::size_t>(value)];
    return std::min<std::uint64_t>(level, 255);
  });
}

template <typename Make>
void replace_by_histogram(std::span<std::uint8_t> pixels, std::size_t channels, const Make& make) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    replace(pixels, make(histogram_of(pixels, channel, channels)), channel, channels);
  }
}

}  // namespace

void invert(std::span<std::uint8_t> pixels) {
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
}

void solarize(std::span<std::uint8_t> pixels, double threshold) {
  replace(pixels, table_of([&](int value) { return value < threshold ? value : 255 - value; }));
}

void posterize(std::span<std::uint8_t> pixels, int bits) {
  const auto mask = static_cast<std::uint8_t>(0xFF00U >> bits);
  for (std::uint8_t& pixel : pixels) pixel &= mask;
}

void autocontrast(std::span<std::uint8_t> pixels, std::size_t channels) {
  replace_by_histogram(pixels, channels, stretched);
}

void equalize(std::span<std::uint8_t> pixels, std::size_t channels) {
  replace_by_histogram(pixels, channels, equalized);
}

void make_gray(std::span<std::uint8_t> pixels, std::size_t channels) {
  if (channels != 3) return;
  for (std::size_t i = 0; i < pixels.size(); i += 3) {
    const std::uint8_t gray = decode::luma(pixels[i], pixels[i + 1], pixels[i + 2]);
    pixels[i] = pixels[i + 1] = pixels[i + 2] = gray;
  }
}

}  // namespace echoline::recipes
