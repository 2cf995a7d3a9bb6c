#include "audio/log_mel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace echoline::audio {
namespace {

// The periodic Hann window of `length` samples in the middle of n_fft samples.
std::vector<float> hann(std::uint32_t length, std::uint32_t n_fft) {
  std::vector<float> window(n_fft);
  const std::uint32_t left = (n_fft - length) / 2;
  for (std::uint32_t i = 0; i < length; ++i) {
    window[left + i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / length));
  }
  return window;
}

float logarithm(float value, LogKind kind) {
  return kind == LogKind::kNatural ? std::log(value) : std::log10(value);
}

}  // namespace

LogMel::LogMel(const LogMelSettings& settings)
    : settings_(settings),
      bank_(settings.mel),
      window_(hann(settings.win_length, settings.mel.n_fft)) {}

Result<std::uint64_t> LogMel::frames(std::uint64_t samples) const {
  const std::uint32_t n_fft = settings_.mel.n_fft;
  std::uint64_t least = 0;
  if (settings_.pad == FramePad::kNone) least = n_fft;
  if (settings_.pad == FramePad::kReflect) least = n_fft / 2 + 1;
  if (samples < least) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} samples; at least {} are needed. pad: zero, or an audio_crop "
                              "before, allows fewer",
                              samples, least));
  }
  if (settings_.pad == FramePad::kNone) return 1 + (samples - n_fft) / settings_.hop;
  return 1 + samples / settings_.hop;
}

void LogMel::run(std::span<const float> samples, Scratch& scratch, std::span<float> out) const {
  const std::size_t bands = bank_.bands();
  const std::int64_t before = settings_.pad == FramePad::kNone ? 0 : settings_.mel.n_fft / 2;
  for (std::size_t frame = 0; frame * bands < out.size(); ++frame) {
    const auto begin = static_cast<std::int64_t>(frame * settings_.hop) - before;
    fill_frame(samples, begin, scratch.frame);
    const std::span<const float> values = settings_.squares
                                              ? scratch.fourier.squares(scratch.frame)
                                              : scratch.fourier.magnitudes(scratch.frame);
    bank_.apply(values, out.subspan(frame * bands, bands));
  }
  finish(out);
}

void LogMel::fill_frame(std::span<const float> samples, std::int64_t begin,
                        std::span<float> frame) const {
  const auto size = static_cast<std::int64_t>(samples.size());
  const auto length = static_cast<std::int64_t>(frame.size());
  if (begin >= 0 && begin + length <= size) {
    for (std::int64_t i = 0; i < length; ++i) frame[i] = samples[begin + i] * window_[i];
    return;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    std::int64_t at = begin + i;
    // Without the sample at the border, which is not repeated. Frames reach out of the audio by at
    // most n_fft / 2, which is less than the audio has (`frames`).
    if (settings_.pad == FramePad::kReflect) {
      if (at < 0) at = -at;
      if (at >= size) at = 2 * (size - 1) - at;
    }
    frame[i] = at >= 0 && at < size ? samples[at] * window_[i] : 0;
  }
}

void LogMel::finish(std::span<float> values) const {
  const LogKind kind = settings_.log;
  // A decibel is a tenth of the base-10 logarithm of a power, the square of a magnitude.
  const float scale = kind != LogKind::kDecibel ? 1.0F : settings_.squares ? 10.0F : 20.0F;
  for (float& value : values) {
    value = scale * logarithm(std::max(value, settings_.floor), kind);
  }
  if (settings_.top_db && !values.empty()) {
    const double bels = *settings_.top_db / (settings_.squares ? 10 : 20);
    const double unit = kind == LogKind::kNatural ? std::numbers::ln10 : scale;
    const float least = *std::ranges::max_element(values) - static_cast<float>(bels * unit);
    for (float& value : values) value = std::max(value, least);
  }
  if (settings_.mean == 0 && settings_.std == 1) return;
  for (float& value : values) value = (value - settings_.mean) / settings_.std;
}

}  // namespace echoline::audio
