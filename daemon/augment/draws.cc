#include "augment/draws.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace echoline::augment {
namespace {

constexpr int kTriesMax = 10;

// Rounded half to even, as Python's round() does; at least 1.
std::uint32_t rounded(double value) {
  return static_cast<std::uint32_t>(std::max(1.0, std::nearbyint(value)));
}

// One try of torchvision's RandomResizedCrop.get_params; nothing if the crop does not fit.
std::optional<Box> try_crop(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                            const Range& scale, const Range& ratio) {
  // The ratio is that of width to height.
  const auto [crop_width, crop_height] = sides_drawn(random, height, width, scale, ratio);
  if (!(crop_width > 0 && crop_width <= width && crop_height > 0 && crop_height <= height)) {
    return std::nullopt;
  }
  return box_drawn(random, height, width, crop_height, crop_width);
}

// The largest crop in the centre with a ratio within the bounds.
Box centre_crop(std::uint32_t height, std::uint32_t width, const Range& ratio) {
  const double in_ratio = static_cast<double>(width) / height;
  Box box{0, 0, height, width};
  if (in_ratio < ratio[0]) {
    box.height = std::min(height, rounded(width / ratio[0]));
  } else if (in_ratio > ratio[1]) {
    box.width = std::min(width, rounded(height * ratio[1]));
  }
  box.top = (height - box.height) / 2;
  box.left = (width - box.width) / 2;
  return box;
}

}  // namespace

RectangleSides sides_drawn(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                           const Range& scale, const Range& ratio) {
  const double area = static_cast<double>(height) * width * uniform_in(random, scale[0], scale[1]);
  const double drawn = std::exp(uniform_in(random, std::log(ratio[0]), std::log(ratio[1])));
  return {std::nearbyint(std::sqrt(area * drawn)), std::nearbyint(std::sqrt(area / drawn))};
}

Box box_drawn(SampleRandom& random, std::uint32_t height, std::uint32_t width, double box_height,
              double box_width) {
  Box box;
  box.height = static_cast<std::uint32_t>(box_height);
  box.width = static_cast<std::uint32_t>(box_width);
  box.top = random.below(height - box.height + 1);
  box.left = random.below(width - box.width + 1);
  return box;
}

Box random_resized_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                            std::uint32_t width, const Range& scale, const Range& ratio) {
  SampleRandom random(key, step);
  for (int i = 0; i < kTriesMax; ++i) {
    if (const auto box = try_crop(random, height, width, scale, ratio)) return *box;
  }
  return centre_crop(height, width, ratio);
}

Box random_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height, std::uint32_t width,
                    std::uint32_t crop_height, std::uint32_t crop_width) {
  SampleRandom random(key, step);
  Box box{0, 0, crop_height, crop_width};
  if (height > crop_height) box.top = random.below(height - crop_height + 1);
  if (width > crop_width) box.left = random.below(width - crop_width + 1);
  return box;
}

bool flip_drawn(const UseKey& key, std::uint8_t step, double probability) {
  return SampleRandom(key, step).uniform_double() < probability;
}

Box cutout_box(const UseKey& key, std::uint8_t step, std::uint32_t height, std::uint32_t width,
               std::uint32_t side) {
  SampleRandom random(key, step);
  const std::int64_t top = std::int64_t{random.below(height)} - side / 2;
  const std::int64_t left = std::int64_t{random.below(width)} - side / 2;
  const auto clipped = [](std::int64_t value, std::uint32_t size) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, size));
  };
  Box box;
  box.top = clipped(top, height);
  box.left = clipped(left, width);
  box.height = clipped(top + side, height) - box.top;
  box.width = clipped(left + side, width) - box.left;
  return box;
}

JitterDraw color_jitter_draw(const UseKey& key, std::uint8_t step,
                             const std::array<double, 4>& amounts, double probability) {
  SampleRandom random(key, step);
  JitterDraw draw;
  draw.order = {Jitter::kBrightness, Jitter::kContrast, Jitter::kSaturation, Jitter::kHue};
  // Fisher-Yates shuffle.
  for (std::uint32_t i = 3; i > 0; --i) std::swap(draw.order[i], draw.order[random.below(i + 1)]);
  for (std::size_t i = 0; i < 3; ++i) {
    draw.factors[i] = uniform_in(random, std::max(0.0, 1 - amounts[i]), 1 + amounts[i]);
  }
  draw.factors[3] = uniform_in(random, -amounts[3], amounts[3]);
  // Last, so that the order and the factors are those of versions without a probability.
  draw.changes = chance_drawn(random, probability);
  return draw;
}

}  // namespace echoline::augment
