// The step photometric_distort.
#include <algorithm>
#include <array>

#include "augment/color_jitter.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

class DistortOp final : public Op {
 public:
  DistortOp(const DistortRanges& ranges, std::uint8_t step) : ranges_(ranges), step_(step) {}

  bool keeps_place() const override { return true; }
  void apply(const Work& work, Picture& picture, bool in_row) const override {
    std::uint8_t* pixels = picture.editable(in_row);
    const std::size_t count = picture.view().size.pixels();
    const std::uint32_t channels = picture.channels();
    const DistortDraw draw = photometric_distort_draw(work.key, step_, ranges_);
    for (const Jitter kind : draw.order) {
      adjust(kind, draw.factors[static_cast<std::size_t>(kind)], pixels, count, channels);
    }
    if (channels == 3) exchange(draw.channels, pixels, count);
  }

 private:
  static void exchange(const std::array<std::uint8_t, 3>& channels, std::uint8_t* pixels,
                       std::size_t count) {
    if (channels == std::array<std::uint8_t, 3>{0, 1, 2}) return;
    for (std::size_t i = 0; i < count; ++i, pixels += 3) {
      const std::array<std::uint8_t, 3> pixel{pixels[0], pixels[1], pixels[2]};
      for (std::size_t c = 0; c < 3; ++c) pixels[c] = pixel[channels[c]];
    }
  }

  const DistortRanges ranges_;
  const std::uint8_t step_;
};

Status compile_photometric_distort(const v1::Step& step, std::uint8_t number,
                                   FieldProgram& program) {
  constexpr Range kFactors{0, 1000};
  const v1::PhotometricDistort& settings = step.photometric_distort();
  DistortRanges ranges;
  ECHOLINE_ASSIGN(ranges.ranges[0],
                  range_within(settings.brightness(), "brightness", {0.875, 1.125}, kFactors));
  ECHOLINE_ASSIGN(ranges.ranges[1],
                  range_within(settings.contrast(), "contrast", {0.5, 1.5}, kFactors));
  ECHOLINE_ASSIGN(ranges.ranges[2],
                  range_within(settings.saturation(), "saturation", {0.5, 1.5}, kFactors));
  ECHOLINE_ASSIGN(ranges.ranges[3],
                  range_within(settings.hue(), "hue", {-0.05, 0.05}, {-0.5, 0.5}));
  ECHOLINE_ASSIGN(ranges.probability, probability_of(settings, 0.5));
  return program.append(std::make_unique<DistortOp>(ranges, number));
}

}  // namespace

const Transform kPhotometricDistort{v1::Step::kPhotometricDistort, compile_photometric_distort};

}  // namespace echoline::augment
