#include "audio/audio_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audio/resampler.h"

namespace echoline::audio {
namespace {

// Samples that are read at a time: a header that states more than the file has takes no more
// memory.
constexpr std::size_t kBlockSamples = 1 << 15;
// Rates outside of these are no audio: they would need filters of unusual size.
constexpr std::uint32_t kRateMin = 1000;
constexpr std::uint32_t kRateMax = 768000;

Status check_rate(const AudioInfo& info, const AudioSettings& settings) {
  if (info.rate == settings.rate) return {};
  if (!settings.resample) {
    return {Code::kInvalidArgument,
            fmt::format("the rate is {}; {} is configured. resample: true converts other rates",
                        info.rate, settings.rate)};
  }
  if (info.rate >= kRateMin && info.rate <= kRateMax) return {};
  return {Code::kInvalidArgument,
          fmt::format("the rate is {}; {} to {} can be converted", info.rate, kRateMin, kRateMax)};
}

Status check_channel(const AudioInfo& info, const AudioSettings& settings) {
  if (!settings.channel || *settings.channel < info.channels) return {};
  return {Code::kInvalidArgument, fmt::format("channel {} is configured; the file has {} channels",
                                              *settings.channel, info.channels)};
}

std::uint64_t frames_max(double seconds, std::uint32_t rate) {
  return static_cast<std::uint64_t>(std::floor(seconds * rate));
}

Status too_long(std::uint64_t frames, const AudioInfo& info, const AudioSettings& settings) {
  return {Code::kResourceExhausted,
          fmt::format("{} samples of rate {} or more are longer than max_seconds, {}", frames,
                      info.rate, settings.max_seconds)};
}

Status check_finite(std::span<const float> samples) {
  const auto found = std::find_if(samples.begin(), samples.end(),
                                  [](float sample) { return !std::isfinite(sample); });
  if (found == samples.end()) return {};
  return {Code::kDataLoss,
          fmt::format("sample {} is {}, not a finite number", found - samples.begin(), *found)};
}

}  // namespace

std::uint64_t AudioSettings::samples_max() const {
  // The length of a resampled file is rounded to the nearest integer.
  return static_cast<std::uint64_t>(std::ceil(max_seconds * rate));
}

Result<std::span<const float>> AudioReader::read(std::span<const std::byte> bytes,
                                                 const AudioSettings& settings) {
  ECHOLINE_ASSIGN(const AudioInfo info, file_.open(bytes));
  const Status status = [&]() -> Status {
    ECHOLINE_TRY(check_rate(info, settings));
    ECHOLINE_TRY(check_channel(info, settings));
    ECHOLINE_TRY(read_all(info, settings));
    return check_finite(samples_);
  }();
  file_.close();  // the bytes are the caller's
  ECHOLINE_TRY(status);
  if (info.rate == settings.rate) return std::span<const float>(samples_);
  ECHOLINE_TRY(resample(samples_, info.rate, settings.rate, resampled_));
  // The sum of finite samples that are far too large can be infinite.
  ECHOLINE_TRY(check_finite(resampled_));
  return std::span<const float>(resampled_);
}

Status AudioReader::read_all(const AudioInfo& info, const AudioSettings& settings) {
  const std::uint64_t limit = frames_max(settings.max_seconds, info.rate);
  const bool known = info.frames != kFramesUnknown;
  if (known && info.frames > limit) return too_long(info.frames, info, settings);
  samples_.clear();
  block_.resize(std::max<std::size_t>(kBlockSamples / info.channels, 1) * info.channels);
  for (;;) {
    ECHOLINE_ASSIGN(const std::size_t frames, file_.read(block_));
    if (frames == 0) break;
    append(std::span(block_).first(frames * info.channels), info.channels, settings.channel);
    if (samples_.size() > limit) return too_long(samples_.size(), info, settings);
  }
  if (info.lossless && known && samples_.size() < info.frames) {
    return {Code::kDataLoss, fmt::format("the file is cut off: it has {} of {} samples",
                                         samples_.size(), info.frames)};
  }
  return {};
}

void AudioReader::append(std::span<const float> interleaved, std::uint32_t channels,
                         const std::optional<std::uint32_t>& channel) {
  if (channels == 1) {
    samples_.insert(samples_.end(), interleaved.begin(), interleaved.end());
    return;
  }
  for (std::size_t at = 0; at < interleaved.size(); at += channels) {
    if (channel) {
      samples_.push_back(interleaved[at + *channel]);
      continue;
    }
    // As numpy's mean over the channels: the sum in their order, then one division.
    float sum = interleaved[at];
    for (std::uint32_t i = 1; i < channels; ++i) sum += interleaved[at + i];
    samples_.push_back(sum / static_cast<float>(channels));
  }
}

}  // namespace echoline::audio
