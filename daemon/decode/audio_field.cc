// Audio fields: `as: audio`, float32 samples of one channel, of any length.
#include <fmt/format.h>

#include <cstring>

#include "audio/audio_reader.h"
#include "decode/field.h"
#include "echoline/v1/config.pb.h"

namespace echoline::decode {
namespace {

constexpr double kMaxSecondsDefault = 30;
constexpr std::uint64_t kSamplesMax = std::uint64_t{1} << 29;  // 2 GiB

class AudioField final : public Field {
 public:
  explicit AudioField(const audio::AudioSettings& settings) : settings_(settings) {}

  FieldType type() const override {
    FieldType type;
    type.dtype = shm::kFloat32;
    type.ragged = true;
    type.shape = {{static_cast<std::uint32_t>(settings_.samples_max())}, 1};
    type.rate = settings_.rate;
    return type;
  }

  Status read(std::span<const std::byte> bytes, Scratch& scratch, Tensor& out) const override {
    ECHOLINE_ASSIGN(const auto samples, scratch.audio.read(bytes, settings_));
    out.dtype = shm::kFloat32;
    out.shape = {{static_cast<std::uint32_t>(samples.size())}, 1};
    out.bytes.resize(samples.size_bytes());
    if (!samples.empty()) std::memcpy(out.bytes.data(), samples.data(), samples.size_bytes());
    return {};
  }

 private:
  const audio::AudioSettings settings_;
};

}  // namespace

FieldResult make_audio_field(const v1::DecodeField& entry) {
  if (entry.shape_size() != 0) {
    return Status(Code::kInvalidArgument, "audio has no shape; its length differs");
  }
  if (entry.rate() == 0) {
    return Status(Code::kInvalidArgument, "rate is missing: the samples per second of the field");
  }
  audio::AudioSettings settings;
  settings.rate = entry.rate();
  settings.resample = entry.resample();
  settings.max_seconds = entry.has_max_seconds() ? entry.max_seconds() : kMaxSecondsDefault;
  if (entry.has_channel()) settings.channel = entry.channel();
  // Written so that NaN is refused, too.
  if (!(settings.max_seconds * settings.rate <= kSamplesMax && settings.samples_max() >= 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("max_seconds is {}: with rate {}, 1 to {} samples are allowed",
                              settings.max_seconds, settings.rate, kSamplesMax));
  }
  return std::unique_ptr<Field>(new AudioField(settings));
}

}  // namespace echoline::decode
