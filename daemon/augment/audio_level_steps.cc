// The steps audio_gain and audio_noise, whose amounts are drawn in decibels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "augment/audio_draws.h"
#include "augment/float_step.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

// The ratio of two amplitudes.
double amplitude_of(double decibels) { return std::pow(10.0, decibels / 20); }

double energy_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + value * value; });
}

class AudioLevelStep : public FloatStep {
 public:
  AudioLevelStep(std::vector<decode::FieldType> outputs, std::size_t field, Range decibels,
                 double probability, std::uint8_t number)
      : FloatStep(std::move(outputs), field),
        decibels_(decibels),
        probability_(probability),
        number_(number) {}

 protected:
  virtual void apply(std::span<const float> values, double decibels, SampleRandom& random,
                     std::span<float> to) const = 0;

 private:
  Status change(const Work& work, decode::Sample& out) const override {
    SampleRandom random(work.key, number_);
    const std::span<float> to = make_values(out, work.shape);
    if (const auto decibels = decibel_draw(random, decibels_, probability_)) {
      apply(work.values, *decibels, random, to);
    } else {
      std::ranges::copy(work.values, to.begin());
    }
    return {};
  }

  const Range decibels_;
  const double probability_;
  const std::uint8_t number_;
};

class AudioGainStep final : public AudioLevelStep {
 public:
  using AudioLevelStep::AudioLevelStep;

 private:
  void apply(std::span<const float> values, double decibels, SampleRandom&,
             std::span<float> to) const override {
    const auto gain = static_cast<float>(amplitude_of(decibels));
    std::ranges::transform(values, to.begin(), [gain](float value) { return value * gain; });
  }
};

class AudioNoiseStep final : public AudioLevelStep {
 public:
  using AudioLevelStep::AudioLevelStep;

 private:
  void apply(std::span<const float> values, double decibels, SampleRandom& random,
             std::span<float> to) const override {
    normal_draws(random, to);
    // By the energy that the noise has, not the expected one, as torchaudio's add_noise.
    const double noise = energy_of(to);
    const double ratio = noise > 0 ? std::sqrt(energy_of(values) / noise) : 0;
    const auto scale = static_cast<float>(ratio / amplitude_of(decibels));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i] + scale * to[i];
  }
};

template <typename Made>
Result<std::unique_ptr<SampleStep>> make_level(
    const std::string& name, const char* key,
    const google::protobuf::RepeatedField<double>& decibels, double probability,
    std::uint8_t number, const std::vector<decode::FieldType>& inputs) {
  constexpr double kDecibelMax = 200;
  ECHOLINE_ASSIGN(const std::size_t field, find_audio(inputs, name));
  // Written as !(a && b), so that NaN is refused, too.
  if (decibels.size() != 2 ||
      !(decibels[0] >= -kDecibelMax && decibels[0] <= decibels[1] && decibels[1] <= kDecibelMax)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} needs two numbers, the smaller one first, from -{} to {}", key,
                              kDecibelMax, kDecibelMax));
  }
  return std::unique_ptr<SampleStep>(
      new Made(inputs, field, {decibels[0], decibels[1]}, probability, number));
}

Result<std::unique_ptr<SampleStep>> make_audio_gain(const v1::Step& step, std::uint8_t number,
                                                    const std::vector<decode::FieldType>& inputs) {
  const v1::AudioGain& settings = step.audio_gain();
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  return make_level<AudioGainStep>(settings.field(), "db", settings.db(), probability, number,
                                   inputs);
}

Result<std::unique_ptr<SampleStep>> make_audio_noise(const v1::Step& step, std::uint8_t number,
                                                     const std::vector<decode::FieldType>& inputs) {
  const v1::AudioNoise& settings = step.audio_noise();
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  return make_level<AudioNoiseStep>(settings.field(), "snr", settings.snr(), probability, number,
                                    inputs);
}

}  // namespace

const Transform kAudioGain{v1::Step::kAudioGain, nullptr, make_audio_gain};
const Transform kAudioNoise{v1::Step::kAudioNoise, nullptr, make_audio_noise};

}  // namespace echoline::augment
