// Log-mel spectrograms of audio.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/fourier.h"
#include "audio/mel_bank.h"
#include "base/status.h"

namespace echoline::audio {

enum class FramePad : std::uint8_t { kReflect, kZero, kNone };
enum class LogKind : std::uint8_t { kNatural, kBase10, kDecibel };

struct LogMelSettings {
  MelSettings mel;
  std::uint32_t hop = 0;
  std::uint32_t win_length = 0;
  bool squares = true;  // of the magnitudes
  FramePad pad = FramePad::kReflect;
  LogKind log = LogKind::kNatural;
  float floor = 1e-10F;
  std::optional<double> top_db;
  float mean = 0;
  float std = 1;
};

// Immutable; any thread may run it with its own RealFourier of size n_fft and its own buffer.
class LogMel {
 public:
  explicit LogMel(const LogMelSettings& settings);

  struct Scratch {
    explicit Scratch(std::uint32_t n_fft) : fourier(n_fft), frame(n_fft) {}
    RealFourier fourier;
    std::vector<float> frame;
  };

  // Frames of so many samples. kInvalidArgument: too few for one frame, or for a reflection.
  Result<std::uint64_t> frames(std::uint64_t samples) const;
  std::uint32_t bands() const { return bank_.bands(); }
  bool has_empty_filter() const { return bank_.has_empty_filter(); }
  Scratch make_scratch() const { return Scratch(settings_.mel.n_fft); }
  // Writes [frames, bands]; the caller has called `frames` without an error.
  void run(std::span<const float> samples, Scratch& scratch, std::span<float> out) const;

 private:
  void fill_frame(std::span<const float> samples, std::int64_t begin, std::span<float> frame) const;
  // Logarithms of all bands of the sample.
  void finish(std::span<float> values) const;

  const LogMelSettings settings_;
  const MelBank bank_;
  std::vector<float> window_;  // n_fft values
};

}  // namespace echoline::audio
