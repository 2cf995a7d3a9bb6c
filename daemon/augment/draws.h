// The random draws of the steps for one use of one sample: pure functions of the key, the step's
// number and the image size before the step. So tests and other programs can compute a crop without
// pixels. The order of the draws within a step is part of the contract (golden tests).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/image_reader.h"
#include "echoline/shm/sample_random.h"

namespace echoline::augment {

// Pixels [top, top + height) x [left, left + width).
using Box = decode::Region;

// The smallest and the largest value.
using Range = std::array<double, 2>;

// Uniform in [least, greatest).
inline double uniform_in(SampleRandom& random, double least, double greatest) {
  return least + (greatest - least) * random.uniform_double();
}

// A random rectangle in an image, drawn as by torchvision's RandomResizedCrop and RandomErasing.
struct RectangleSides {
  double by_ratio = 0;  // sqrt(area * ratio), rounded half to even
  double of_ratio = 0;  // sqrt(area / ratio)
};
// Draws the share of the image's area, then the ratio, evenly on a logarithmic scale.
RectangleSides sides_drawn(SampleRandom& random, std::uint32_t height, std::uint32_t width,
                           const Range& scale, const Range& ratio);
// Draws top, then left, of a box with sides that fit.
Box box_drawn(SampleRandom& random, std::uint32_t height, std::uint32_t width, double box_height,
              double box_width);

// torchvision's RandomResizedCrop: at most ten tries of (area, ratio; then top, left), else a
// centre crop.
Box random_resized_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                            std::uint32_t width, const Range& scale, const Range& ratio);

// A uniform position of a crop that fits. Draws top, then left, each only if there is a choice.
Box random_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height, std::uint32_t width,
                    std::uint32_t crop_height, std::uint32_t crop_width);

bool flip_drawn(const UseKey& key, std::uint8_t step, double probability);

// Whether a step changes this use at all; the first draw of steps that have a probability.
bool chance_drawn(SampleRandom& random, double probability);

// torchvision's RandomErasing: nothing with the rest of the probability, and if at most ten tries
// of (area, ratio) give no rectangle that is smaller than the image on both sides; then top, left.
// The ratio is that of height to width.
std::optional<Box> erased_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                              std::uint32_t width, double probability, const Range& scale,
                              const Range& ratio);

// The standard deviation of a blur in pixels; nothing with the rest of the probability.
std::optional<double> blur_sigma(const UseKey& key, std::uint8_t step, double probability,
                                 const Range& sigma);

// The square with sides of `side` pixels around a uniform centre (draws row, then column), clipped
// to the image. DeVries and Taylor, "Improved Regularization of Convolutional Neural Networks with
// Cutout", 2017.
Box cutout_box(const UseKey& key, std::uint8_t step, std::uint32_t height, std::uint32_t width,
               std::uint32_t side);

enum class Jitter : std::uint8_t { kBrightness, kContrast, kSaturation, kHue };

struct JitterDraw {
  std::array<Jitter, 4> order{};
  std::array<double, 4> factors{};  // by Jitter; hue as a share of the circle
  bool changes = true;              // false with the rest of the probability
};

// Draws a uniform order of the four, then one factor each, as torchvision's ColorJitter does, and
// whether the step changes this use. `amounts` is by Jitter: factors are uniform in [max(0, 1 -
// amount), 1 + amount], the hue in [-amount, amount].
JitterDraw color_jitter_draw(const UseKey& key, std::uint8_t step,
                             const std::array<double, 4>& amounts, double probability);

struct IouCropSettings {
  Range scale{};
  Range ratio{};
  std::vector<double> overlaps;
  std::uint32_t tries = 0;
};

// torchvision's RandomIoUCrop: draws an overlap, then at most `tries` crops (width, height; then
// left, top) until one has the centre of a box in it, and the overlap with such a box; else the
// next overlap. The whole picture for an overlap of 1 or more, and after 50 overlaps. `corners` has
// four numbers a box.
Box random_iou_crop_box(const UseKey& key, std::uint8_t step, std::uint32_t height,
                        std::uint32_t width, std::span<const float> corners,
                        const IouCropSettings& settings);
// Whether the centre of a box is inside a crop, not on its edge.
bool has_centre(const Box& crop, std::span<const float, 4> box);

struct DistortRanges {
  std::array<Range, 4> ranges{};  // by Jitter; hue as a share of the circle
  double probability = 0;
};

// What changes, in this order; factors are by Jitter.
struct DistortDraw {
  std::vector<Jitter> order;
  std::array<double, 4> factors{};
  std::array<std::uint8_t, 3> channels{0, 1, 2};  // the channel that each one gets
};

// torchvision's RandomPhotometricDistort: for each Jitter whether it changes, and its factor; then
// whether contrast comes before saturation, and a permutation of the channels.
DistortDraw photometric_distort_draw(const UseKey& key, std::uint8_t step,
                                     const DistortRanges& ranges);

}  // namespace echoline::augment
