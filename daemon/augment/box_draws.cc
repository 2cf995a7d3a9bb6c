// The draws of the steps for detection: random_iou_crop and photometric_distort.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "augment/draws.h"

namespace echoline::augment {
namespace {

// torchvision draws overlaps without end.
constexpr int kOverlapsMax = 50;

double overlap_of(const Box& crop, std::span<const float, 4> box) {
  const double width = crop.width;
  const double height = crop.height;
  const auto shared = [](double first, double length, double other_first, double other_end) {
    return std::max(0.0, std::min(first + length, other_end) - std::max(first, other_first));
  };
  const double both =
      shared(crop.left, width, box[0], box[2]) * shared(crop.top, height, box[1], box[3]);
  const double own = (double{box[2]} - box[0]) * (double{box[3]} - box[1]);
  const double either = width * height + own - both;
  return either > 0 ? both / either : 0;
}

bool fits(const Box& crop, std::span<const float> corners, double overlap) {
  bool any = false;
  for (std::size_t i = 0; i < corners.size(); i += 4) {
    const std::span<const float, 4> box(corners.data() + i, 4);
    any = any || (has_centre(crop, box) && overlap_of(crop, box) >= overlap);
  }
  return any;
}

std::optional<Box> try_iou_crop(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                                const IouCropSettings& settings) {
  const auto share_of = [](std::uint32_t side, double share) {
    return static_cast<std::uint32_t>(side * share);
  };
  Box crop;
  crop.width = share_of(width, uniform_in(random, settings.scale[0], settings.scale[1]));
  crop.height = share_of(height, uniform_in(random, settings.scale[0], settings.scale[1]));
  if (crop.width == 0 || crop.height == 0) return std::nullopt;
  const double ratio = static_cast<double>(crop.width) / crop.height;
  if (ratio < settings.ratio[0] || ratio > settings.ratio[1]) return std::nullopt;
  crop.left = share_of(width - crop.width, random.uniform_double());
  crop.top = share_of(height - crop.height, random.uniform_double());
  return crop;
}

}  // namespace

bool has_centre(const Box& crop, std::span<const float, 4> box) {
  const float x = 0.5F * (box[0] + box[2]);
  const float y = 0.5F * (box[1] + box[3]);
  const auto inside = [](float at, std::uint32_t first, std::uint32_t length) {
    return static_cast<float>(first) < at && at < static_cast<float>(first + length);
  };
  return inside(x, crop.left, crop.width) && inside(y, crop.top, crop.height);
}

Box random_iou_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                        std::uint32_t width, std::span<const float> corners,
                        const IouCropSettings& settings) {
  const Box whole{0, 0, height, width};
  if (corners.empty()) return whole;
  SampleRandom random(key, step);
  const auto count = static_cast<std::uint32_t>(settings.overlaps.size());
  for (int round = 0; round < kOverlapsMax; ++round) {
    const double overlap = settings.overlaps[random.below(count)];
    if (overlap >= 1) return whole;
    for (std::uint32_t i = 0; i < settings.tries; ++i) {
      const auto crop = try_iou_crop(random, height, width, settings);
      if (crop && fits(*crop, corners, overlap)) return *crop;
    }
  }
  return whole;
}

DistortDraw photometric_distort_draw(const UseKey& key, std::uint8_t step,
                                     const DistortRanges& ranges) {
  SampleRandom random(key, step);
  DistortDraw draw;
  std::array<bool, 4> changes{};
  // All factors are drawn, also those that are not used: their places never depend on others.
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i] = random.uniform_double() < ranges.probability;
    draw.factors[i] = uniform_in(random, ranges.ranges[i][0], ranges.ranges[i][1]);
  }
  const bool contrast_first = random.uniform_double() < 0.5;
  std::vector<Jitter> order = {Jitter::kBrightness, Jitter::kContrast, Jitter::kSaturation,
                               Jitter::kHue};
  if (!contrast_first) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  for (const Jitter kind : order) {
    if (changes[static_cast<std::size_t>(kind)]) draw.order.push_back(kind);
  }
  if (random.uniform_double() >= ranges.probability) return draw;
  for (std::uint32_t i = 2; i > 0; --i) {
    std::swap(draw.channels[i], draw.channels[random.below(i + 1)]);
  }
  return draw;
}

}  // namespace echoline::augment
