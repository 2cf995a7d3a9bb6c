// Spectrograms: equal to those of torchaudio and librosa within a bound, also at the ends of the
// audio.
#include "audio/log_mel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "audio/cosine.h"
#include "audio/golden.h"
#include "decode/allocations.h"

namespace echoline::audio {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kRate = 8000;  // of the golden signal

LogMelSettings settings_of(std::uint32_t n_fft, std::uint32_t hop, std::uint32_t n_mels) {
  LogMelSettings settings;
  settings.mel = {.rate = kRate, .n_fft = n_fft, .n_mels = n_mels, .f_max = kRate / 2.0};
  settings.hop = hop;
  settings.win_length = n_fft;
  return settings;
}

LogMelSettings librosa_settings() {
  LogMelSettings settings = settings_of(400, 160, 20);
  settings.mel.scale = MelScale::kSlaney;
  settings.mel.by_width = true;
  settings.pad = FramePad::kZero;
  settings.log = LogKind::kDecibel;
  settings.top_db = 80;
  return settings;
}

std::vector<float> run(const LogMelSettings& settings, const std::vector<float>& samples) {
  const LogMel log_mel(settings);
  const auto frames = log_mel.frames(samples.size());
  EXPECT_TRUE(frames.ok()) << frames.status().message();
  std::vector<float> out(frames.value() * log_mel.bands());
  auto scratch = log_mel.make_scratch();
  log_mel.run(samples, scratch, out);
  return out;
}

TEST(LogMel, EqualsTorchaudios) {
  expect_golden(run(settings_of(256, 80, 24), golden_signal()), "torchaudio", 2e-4F);
  LogMelSettings inside = settings_of(200, 80, 16);
  inside.pad = FramePad::kNone;
  expect_golden(run(inside, golden_signal()), "torchaudio_inside", 2e-4F);
}

TEST(LogMel, OfMagnitudesWithAShorterWindowEqualsTorchaudios) {
  LogMelSettings settings = settings_of(256, 100, 16);
  settings.win_length = 200;
  settings.mel.f_min = 60;
  settings.mel.f_max = 3800;
  settings.mel.scale = MelScale::kSlaney;
  settings.mel.by_width = true;
  settings.squares = false;
  settings.log = LogKind::kDecibel;
  settings.top_db = 30;
  expect_golden(run(settings, golden_signal()), "torchaudio_magnitudes", 1e-3F);
}

TEST(LogMel, EqualsLibrosas) {
  expect_golden(run(librosa_settings(), golden_signal()), "librosa", 1e-3F);
}

TEST(LogMel, WithAMeanAndADivisorEqualsWhispers) {
  LogMelSettings settings = librosa_settings();
  settings.pad = FramePad::kReflect;
  settings.log = LogKind::kBase10;
  settings.mean = -4;
  settings.std = 4;
  expect_golden(run(settings, golden_signal()), "whisper", 1e-4F);
}

TEST(Mfcc, EqualsLibrosas) {
  const std::vector<float> mels = run(librosa_settings(), golden_signal());
  const Cosine cosine(20, 13);
  std::vector<float> out(mels.size() / 20 * 13);
  for (std::size_t frame = 0; frame < mels.size() / 20; ++frame) {
    cosine.apply(std::span(mels).subspan(frame * 20, 20), std::span(out).subspan(frame * 13, 13));
  }
  expect_golden(out, "librosa_mfcc", 2e-3F);
}

TEST(LogMel, TooShortAudioIsAnErrorUnlessZerosFollow) {
  LogMelSettings settings = settings_of(256, 80, 8);
  EXPECT_THAT(LogMel(settings).frames(128).status().message(),
              HasSubstr("128 samples; at least 129 are needed"));
  EXPECT_EQ(LogMel(settings).frames(129).value(), 2U);
  settings.pad = FramePad::kNone;
  EXPECT_FALSE(LogMel(settings).frames(255).ok());
  EXPECT_EQ(LogMel(settings).frames(256).value(), 1U);
  settings.pad = FramePad::kZero;
  for (const float value : run(settings, {})) EXPECT_EQ(value, std::log(1e-10F));
}

TEST(LogMel, AllocatesNothingPerSample) {
  const LogMel log_mel(librosa_settings());
  auto scratch = log_mel.make_scratch();
  const std::vector<float> samples = golden_signal();
  std::vector<float> out(log_mel.frames(samples.size()).value() * log_mel.bands());
  log_mel.run(samples, scratch, out);
  const long before = allocation_count;
  log_mel.run(samples, scratch, out);
  EXPECT_EQ(allocation_count, before);
}

TEST(RealFourier, AllowsFastSizesOnly) {
  for (const std::uint32_t size : {16U, 400U, 512U, 480U, 2048U}) {
    EXPECT_TRUE(RealFourier::has_size(size)) << size;
  }
  for (const std::uint32_t size : {0U, 1U, 401U, 14U, 442U}) {
    EXPECT_FALSE(RealFourier::has_size(size)) << size;
  }
}

}  // namespace
}  // namespace echoline::audio
