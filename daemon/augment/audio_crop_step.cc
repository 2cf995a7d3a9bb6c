// The step audio_crop: one length for all audio of a field.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "augment/audio_draws.h"
#include "augment/float_step.h"
#include "augment/transforms.h"

namespace echoline::augment {
namespace {

enum class Position : std::uint8_t { kRandom, kStart, kCenter };

class AudioCropStep final : public FloatStep {
 public:
  AudioCropStep(std::vector<decode::FieldType> outputs, std::size_t field, Position position,
                bool lengths, std::uint8_t number)
      : FloatStep(std::move(outputs), field),
        position_(position),
        lengths_(lengths),
        number_(number) {}

 private:
  Status change(const Work& work, decode::Sample& out) const override {
    const decode::Shape& shape = outputs()[field()].shape;
    const std::size_t length = shape.sizes[0];
    const std::size_t kept = std::min(work.values.size(), length);
    const std::span<float> to = make_values(out, shape);
    const std::size_t begin = start(work.key, work.values.size() - kept);
    std::ranges::copy(work.values.subspan(begin, kept), to.begin());
    std::ranges::fill(to.subspan(kept), 0.0F);
    if (lengths_) write_length(out.tensors.back(), kept);
    return {};
  }

  std::size_t start(const UseKey& key, std::size_t excess) const {
    if (position_ == Position::kStart) return 0;
    if (position_ == Position::kCenter) return excess / 2;
    return audio_crop_start(key, number_, static_cast<std::uint32_t>(excess));
  }

  const Position position_;
  const bool lengths_;
  const std::uint8_t number_;
};

Result<Position> position_of(const std::string& name) {
  if (name.empty() || name == "random") return Position::kRandom;
  if (name == "start") return Position::kStart;
  if (name == "center") return Position::kCenter;
  return Status(Code::kInvalidArgument,
                fmt::format("position is \"{}\"; allowed are random, start, center", name));
}

Result<std::unique_ptr<SampleStep>> make_audio_crop(const v1::Step& step, std::uint8_t number,
                                                    const std::vector<decode::FieldType>& inputs) {
  constexpr double kSamplesMax = 1 << 29;  // 2 GiB
  const v1::AudioCrop& settings = step.audio_crop();
  ECHOLINE_ASSIGN(const std::size_t field, find_audio(inputs, settings.field()));
  ECHOLINE_ASSIGN(const Position position, position_of(settings.position()));
  const double length = std::round(settings.seconds() * inputs[field].rate);
  if (!(length >= 1 && length <= kSamplesMax)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("seconds is {}: {} samples; 1 to {} are allowed", settings.seconds(),
                              length, kSamplesMax));
  }
  std::vector<decode::FieldType> outputs = inputs;
  outputs[field].ragged = false;
  outputs[field].fixed = true;
  outputs[field].shape = {{static_cast<std::uint32_t>(length)}, 1};
  ECHOLINE_TRY(add_lengths(outputs, settings.lengths()));
  return std::unique_ptr<SampleStep>(
      new AudioCropStep(std::move(outputs), field, position, !settings.lengths().empty(), number));
}

}  // namespace

const Transform kAudioCrop{v1::Step::kAudioCrop, nullptr, make_audio_crop};

}  // namespace echoline::augment
