#include <algorithm>
#include <array>
#include <cmath>

#include "recipes/neighbours.h"

namespace echoline::recipes {
namespace {

// Half of a symmetric kernel: weights[i] is that of the two pixels at distance i.
struct Kernel {
  std::array<float, kBlurSizeMax / 2 + 1> weights{};
  std::size_t reach = 0;
};

Kernel gaussian(std::uint32_t size, double sigma) {
  Kernel kernel;
  kernel.reach = size / 2;
  const auto weight = [sigma](std::size_t distance) {
    const double share = static_cast<double>(distance) / sigma;
    return std::exp(-0.5 * share * share);
  };
  double sum = weight(0);
  for (std::size_t i = 1; i <= kernel.reach; ++i) sum += 2 * weight(i);
  for (std::size_t i = 0; i <= kernel.reach; ++i) {
    kernel.weights[i] = static_cast<float>(weight(i) / sum);
  }
  return kernel;
}

// The index within [0, size) that `index` shows after reflections at both ends, which are not
// repeated. Also for a kernel that is larger than the picture.
std::size_t reflected(std::ptrdiff_t index, std::size_t size) {
  if (size == 1) return 0;
  const auto period = static_cast<std::ptrdiff_t>(2 * (size - 1));
  const std::ptrdiff_t within = ((index % period) + period) % period;
  return static_cast<std::size_t>(std::min(within, period - within));
}

// line = the weighted sum of the rows around row y.
void blur_columns(const Pixels& in, const Kernel& kernel, std::size_t y, float* line) {
  const std::size_t count = in.row_bytes();
  const std::uint8_t* centre = in.row(y);
  for (std::size_t i = 0; i < count; ++i) line[i] = kernel.weights[0] * centre[i];
  for (std::size_t distance = 1; distance <= kernel.reach; ++distance) {
    const auto at = static_cast<std::ptrdiff_t>(y);
    const auto step = static_cast<std::ptrdiff_t>(distance);
    const std::uint8_t* above = in.row(reflected(at - step, in.size.height));
    const std::uint8_t* below = in.row(reflected(at + step, in.size.height));
    const float weight = kernel.weights[distance];
    for (std::size_t i = 0; i < count; ++i) {
      line[i] += weight * static_cast<float>(above[i] + below[i]);
    }
  }
}

// Fills `reach` pixels on both sides of the line.
void reflect(float* line, std::size_t width, std::size_t channels, std::size_t reach) {
  const auto copy = [line, width, channels](std::ptrdiff_t to) {
    const std::size_t from = reflected(to, width);
    std::copy_n(line + from * channels, channels,
                line + to * static_cast<std::ptrdiff_t>(channels));
  };
  for (std::size_t i = 0; i < reach; ++i) {
    copy(-1 - static_cast<std::ptrdiff_t>(i));
    copy(static_cast<std::ptrdiff_t>(width + i));
  }
}

// sums = the weighted sum of the pixels around each pixel of the line.
void blur_row(const float* line, const Kernel& kernel, std::size_t count, std::size_t channels,
              float* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] = kernel.weights[0] * line[i];
  for (std::size_t distance = 1; distance <= kernel.reach; ++distance) {
    const float* left = line - distance * channels;
    const float* right = line + distance * channels;
    const float weight = kernel.weights[distance];
    for (std::size_t i = 0; i < count; ++i) sums[i] += weight * (left[i] + right[i]);
  }
}

}  // namespace

void gaussian_blur(const Pixels& in, std::uint32_t size, double sigma, std::vector<float>& lines,
                   std::uint8_t* out) {
  const Kernel kernel = gaussian(size, sigma);
  const std::size_t count = in.row_bytes();
  const std::size_t border = kernel.reach * in.channels;
  lines.resize(2 * (count + border));
  float* sums = lines.data();
  float* line = sums + count + border;
  for (std::size_t y = 0; y < in.size.height; ++y, out += count) {
    blur_columns(in, kernel, y, line);
    reflect(line, in.size.width, in.channels, kernel.reach);
    blur_row(line, kernel, count, in.channels, sums);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(sums[i] + 0.5F);
  }
}

}  // namespace echoline::recipes
