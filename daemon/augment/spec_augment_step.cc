// The step spec_augment: masks over frames and frequencies of a spectrogram.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "augment/audio_draws.h"
#include "augment/float_step.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

struct Masks {
  std::uint32_t time_count = 0;
  std::uint32_t time_width = 0;
  double time_share = 1;
  std::uint32_t frequency_count = 0;
  std::uint32_t frequency_width = 0;
  bool mean = true;  // of the sample, else 0
};

class SpecAugmentStep final : public FloatStep {
 public:
  SpecAugmentStep(std::vector<decode::FieldType> outputs, std::size_t field, const Masks& masks,
                  std::uint8_t number)
      : FloatStep(std::move(outputs), field), masks_(masks), number_(number) {}

 private:
  Status change(const Work& work, decode::Sample& out) const override {
    const std::uint32_t frames = work.shape.sizes[0], bands = work.shape.sizes[1];
    const std::span<float> to = make_values(out, work.shape);
    std::ranges::copy(work.values, to.begin());
    const float fill = masks_.mean ? mean_of(work.values) : 0;
    SampleRandom random(work.key, number_);
    const auto share = static_cast<std::uint32_t>(masks_.time_share * frames);
    const std::uint32_t time_width = std::min(masks_.time_width, share);
    for (std::uint32_t i = 0; i < masks_.time_count; ++i) {
      const Mask mask = mask_draw(random, time_width, frames);
      std::fill_n(to.begin() + std::size_t{mask.first} * bands, std::size_t{mask.length} * bands,
                  fill);
    }
    for (std::uint32_t i = 0; i < masks_.frequency_count; ++i) {
      const Mask mask = mask_draw(random, masks_.frequency_width, bands);
      for (std::size_t frame = 0; frame < frames; ++frame) {
        std::fill_n(to.begin() + frame * bands + mask.first, mask.length, fill);
      }
    }
    return {};
  }

  static float mean_of(std::span<const float> values) {
    if (values.empty()) return 0;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return static_cast<float>(sum / static_cast<double>(values.size()));
  }

  const Masks masks_;
  const std::uint8_t number_;
};

Status check(const v1::SpecAugment& settings, const Masks& masks, std::uint32_t bands) {
  constexpr std::uint32_t kCountMax = 100, kFramesMax = 65535;
  if (masks.time_count > kCountMax || masks.frequency_count > kCountMax) {
    return {Code::kInvalidArgument, fmt::format("at most {} masks are allowed", kCountMax)};
  }
  if (masks.time_width > kFramesMax) {
    return {Code::kInvalidArgument,
            fmt::format("time_width is {}; at most {} is allowed", masks.time_width, kFramesMax)};
  }
  if (masks.frequency_width > bands) {
    return {Code::kInvalidArgument,
            fmt::format("frequency_width is {}; the spectrogram has {} frequencies",
                        masks.frequency_width, bands)};
  }
  if (!(masks.time_share >= 0 && masks.time_share <= 1)) {
    return {Code::kInvalidArgument,
            fmt::format("time_share is {}; 0 to 1 is allowed", masks.time_share)};
  }
  if (const std::string& fill = settings.fill();
      !fill.empty() && fill != "mean" && fill != "zero") {
    return {Code::kInvalidArgument,
            fmt::format("fill is \"{}\"; allowed are mean, zero", settings.fill())};
  }
  return {};
}

Result<std::unique_ptr<SampleStep>> make_spec_augment(
    const v1::Step& step, std::uint8_t number, const std::vector<decode::FieldType>& inputs) {
  const v1::SpecAugment& settings = step.spec_augment();
  ECHOLINE_ASSIGN(const std::size_t field, find_spectrogram(inputs, settings.field()));
  Masks masks;
  masks.time_count = settings.time_masks();
  masks.time_width = settings.time_width();
  masks.time_share = settings.has_time_share() ? settings.time_share() : 1;
  masks.frequency_count = settings.frequency_masks();
  masks.frequency_width = settings.frequency_width();
  masks.mean = settings.fill() != "zero";
  ECHOLINE_TRY(check(settings, masks, inputs[field].shape.sizes[1]));
  return std::unique_ptr<SampleStep>(new SpecAugmentStep(inputs, field, masks, number));
}

}  // namespace

const Transform kSpecAugment{v1::Step::kSpecAugment, nullptr, make_spec_augment};

}  // namespace echoline::augment
