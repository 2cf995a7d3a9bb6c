// The steps audio_gain and audio_noise, whose amounts are drawn in decibels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "audio/noise_files.h"
#include "augment/audio_draws.h"
#include "augment/float_step.h"
#include "augment/parameters.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

constexpr std::uint64_t kNoiseBytesDefault = 256 << 20;

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
  // `files`: the noise; nothing: white noise.
  AudioNoiseStep(std::vector<decode::FieldType> outputs, std::size_t field, Range decibels,
                 double probability, std::uint8_t number, std::optional<audio::NoiseFiles> files)
      : AudioLevelStep(std::move(outputs), field, decibels, probability, number),
        files_(std::move(files)) {}

  std::string contents() const override {
    return files_ ? fmt::format("\nnoise {}\n", files_->hash()) : std::string();
  }
  std::uint64_t kept_bytes() const override { return files_ ? files_->bytes() : 0; }

 private:
  void apply(std::span<const float> values, double decibels, SampleRandom& random,
             std::span<float> to) const override {
    if (files_) {
      noise_draw(random, *files_, to);
    } else {
      normal_draws(random, to);
    }
    // By the energy that the noise has, not the expected one, as torchaudio's add_noise.
    const double noise = energy_of(to);
    const double ratio = noise > 0 ? std::sqrt(energy_of(values) / noise) : 0;
    const auto scale = static_cast<float>(ratio / amplitude_of(decibels));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i] + scale * to[i];
  }

  // Draws the file, then the place of its first sample.
  static void noise_draw(SampleRandom& random, const audio::NoiseFiles& files,
                         std::span<float> to) {
    const auto file = random.below(static_cast<std::uint32_t>(files.count()));
    const std::span<const float> noise = files.samples(file);
    // Within a longer file; anywhere in one that is repeated.
    const std::size_t places =
        noise.size() > to.size() ? noise.size() - to.size() + 1 : noise.size();
    std::size_t from = random.below(static_cast<std::uint32_t>(places));
    for (std::size_t at = 0; at < to.size(); from = 0) {
      const std::span<const float> part =
          noise.subspan(from, std::min(noise.size() - from, to.size() - at));
      std::ranges::copy(part, to.begin() + static_cast<std::ptrdiff_t>(at));
      at += part.size();
    }
  }

  const std::optional<audio::NoiseFiles> files_;
};

Result<Range> decibels_of(const google::protobuf::RepeatedField<double>& decibels,
                          const char* key) {
  constexpr double kDecibelMax = 200;
  // Written as !(a && b), so that NaN is refused, too.
  if (decibels.size() != 2 ||
      !(decibels[0] >= -kDecibelMax && decibels[0] <= decibels[1] && decibels[1] <= kDecibelMax)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} needs two numbers, the smaller one first, from -{} to {}", key,
                              kDecibelMax, kDecibelMax));
  }
  return Range{decibels[0], decibels[1]};
}

Result<std::unique_ptr<SampleStep>> make_audio_gain(const v1::Step& step, std::uint8_t number,
                                                    const std::vector<decode::FieldType>& inputs) {
  const v1::AudioGain& settings = step.audio_gain();
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  ECHOLINE_ASSIGN(const std::size_t field, find_audio(inputs, settings.field()));
  ECHOLINE_ASSIGN(const Range decibels, decibels_of(settings.db(), "db"));
  return std::unique_ptr<SampleStep>(
      new AudioGainStep(inputs, field, decibels, probability, number));
}

Result<std::unique_ptr<SampleStep>> make_audio_noise(const v1::Step& step, std::uint8_t number,
                                                     const std::vector<decode::FieldType>& inputs) {
  const v1::AudioNoise& settings = step.audio_noise();
  ECHOLINE_ASSIGN(const double probability, probability_of(settings, 1));
  ECHOLINE_ASSIGN(const std::size_t field, find_audio(inputs, settings.field()));
  ECHOLINE_ASSIGN(const Range decibels, decibels_of(settings.snr(), "snr"));
  std::optional<audio::NoiseFiles> files;
  if (!settings.files().empty()) {
    const std::uint64_t most = settings.has_max_bytes() ? settings.max_bytes() : kNoiseBytesDefault;
    auto read = audio::NoiseFiles::read(settings.files(), inputs[field].rate, most);
    if (!read.ok()) return std::move(read).status().with_context("files");
    files = std::move(read).value();
  }
  return std::unique_ptr<SampleStep>(
      new AudioNoiseStep(inputs, field, decibels, probability, number, std::move(files)));
}

}  // namespace

const Transform kAudioGain{v1::Step::kAudioGain, nullptr, make_audio_gain};
const Transform kAudioNoise{v1::Step::kAudioNoise, nullptr, make_audio_noise};

}  // namespace echoline::augment
