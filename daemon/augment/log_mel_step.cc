// The steps log_mel and mfcc: spectrograms of audio.
#include <fmt/format.h>

#include "audio/cosine.h"
#include "audio/log_mel.h"
#include "augment/float_step.h"
#include "augment/log_mel_settings.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

class LogMelStep final : public FloatStep {
 public:
  LogMelStep(std::vector<decode::FieldType> outputs, std::size_t field,
             const audio::LogMelSettings& settings)
      : FloatStep(std::move(outputs), field), log_mel_(settings) {}

  std::unique_ptr<Scratch> make_scratch() const override {
    return std::make_unique<LogMelScratch>(log_mel_.make_scratch());
  }

 private:
  struct LogMelScratch : FloatScratch {
    explicit LogMelScratch(audio::LogMel::Scratch made) : work(std::move(made)) {}
    audio::LogMel::Scratch work;
  };

  Status change(const Work& work, decode::Sample& out) const override {
    ECHOLINE_ASSIGN(const std::uint64_t frames, log_mel_.frames(work.values.size()));
    const decode::Shape shape{{static_cast<std::uint32_t>(frames), log_mel_.bands()}, 2};
    log_mel_.run(work.values, static_cast<LogMelScratch*>(work.scratch)->work,
                 make_values(out, shape));
    return {};
  }

  const audio::LogMel log_mel_;
};

Result<std::unique_ptr<SampleStep>> make_log_mel(const v1::Step& step, std::uint8_t,
                                                 const std::vector<decode::FieldType>& inputs) {
  constexpr std::uint64_t kElementsMax = 1 << 29;  // 2 GiB
  ECHOLINE_ASSIGN(const std::size_t field, find_audio(inputs, step.log_mel().field()));
  ECHOLINE_ASSIGN(const audio::LogMelSettings settings,
                  log_mel_settings(step.log_mel(), inputs[field].rate));
  // Of the longest audio.
  ECHOLINE_ASSIGN(const std::uint64_t frames,
                  audio::LogMel(settings).frames(inputs[field].shape.sizes[0]));
  if (frames * settings.mel.n_mels > kElementsMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("the longest audio has {} frames of {} bands; at most {} elements "
                              "are allowed",
                              frames, settings.mel.n_mels, kElementsMax));
  }
  std::vector<decode::FieldType> outputs = inputs;
  outputs[field].shape = {{static_cast<std::uint32_t>(frames), settings.mel.n_mels}, 2};
  outputs[field].rate = 0;  // no audio any more
  return std::unique_ptr<SampleStep>(new LogMelStep(std::move(outputs), field, settings));
}

class MfccStep final : public FloatStep {
 public:
  MfccStep(std::vector<decode::FieldType> outputs, std::size_t field, std::uint32_t bands)
      : FloatStep(std::move(outputs), field),
        bands_(bands),
        coefficients_(this->outputs()[field].shape.sizes[1]),
        cosine_(bands, coefficients_) {}

 private:
  Status change(const Work& work, decode::Sample& out) const override {
    const std::span<float> to = make_values(out, {{work.shape.sizes[0], coefficients_}, 2});
    for (std::size_t frame = 0; frame < work.shape.sizes[0]; ++frame) {
      cosine_.apply(work.values.subspan(frame * bands_, bands_),
                    to.subspan(frame * coefficients_, coefficients_));
    }
    return {};
  }

  const std::uint32_t bands_;
  const std::uint32_t coefficients_;
  const audio::Cosine cosine_;
};

Result<std::unique_ptr<SampleStep>> make_mfcc(const v1::Step& step, std::uint8_t,
                                              const std::vector<decode::FieldType>& inputs) {
  ECHOLINE_ASSIGN(const std::size_t field, find_spectrogram(inputs, step.mfcc().field()));
  const std::uint32_t bands = inputs[field].shape.sizes[1];
  const std::uint32_t coefficients = step.mfcc().n_mfcc();
  if (coefficients < 1 || coefficients > bands) {
    return Status(Code::kInvalidArgument,
                  fmt::format("n_mfcc is {}; 1 to {}, the number of bands, are allowed",
                              coefficients, bands));
  }
  std::vector<decode::FieldType> outputs = inputs;
  outputs[field].shape.sizes[1] = coefficients;
  return std::unique_ptr<SampleStep>(new MfccStep(std::move(outputs), field, bands));
}

}  // namespace

const Transform kLogMel{.step = v1::Step::kLogMel, .make = make_log_mel, .is_pure = true};
const Transform kMfcc{.step = v1::Step::kMfcc, .make = make_mfcc, .is_pure = true};

}  // namespace echoline::augment
