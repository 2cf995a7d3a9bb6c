// Spectrograms: equal to those of torchaudio and librosa within a bound, also at the ends of the
// audio.
#include "audio/log_mel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <string>

#include "audio/cosine.h"
#include "decode/allocations.h"

namespace echoline::audio {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kRate = 8000;
constexpr std::size_t kSamples = 3000;

// As golden/make_golden.py makes it.
std::vector<float> signal() {
  std::vector<float> samples;
  std::uint32_t state = 1;
  for (std::size_t n = 0; n < kSamples; ++n) {
    state = state * 1664525 + 1013904223;
    const auto i = static_cast<double>(n);
    const double tone =
        std::sin(2 * std::numbers::pi * 0.031 * i) * (0.3 + 0.2 * std::sin(0.002 * i));
    samples.push_back(static_cast<float>(tone + 0.05 * (state / 4294967296.0 - 0.5)));
  }
  return samples;
}

struct Golden {
  std::size_t frames = 0;
  std::size_t bands = 0;
  std::vector<float> values;
};

std::map<std::string, Golden> read_golden() {
  std::ifstream file(std::string(ECHOLINE_SOURCE_DIR) + "/tests/audio/golden/log_mel.txt");
  std::map<std::string, Golden> cases;
  for (std::string name; file >> name;) {
    Golden& golden = cases[name];
    file >> golden.frames >> golden.bands;
    golden.values.resize(golden.frames * golden.bands);
    for (float& value : golden.values) file >> value;
  }
  return cases;
}

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

void expect_equal(const std::vector<float>& made, const std::string& name, float bound) {
  static const auto cases = read_golden();
  const Golden& golden = cases.at(name);
  ASSERT_EQ(made.size(), golden.values.size()) << name;
  float largest = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    largest = std::max(largest, std::abs(made[i] - golden.values[i]));
  }
  EXPECT_LE(largest, bound) << name;
  ::testing::Test::RecordProperty(name, std::to_string(largest));
}

TEST(LogMel, EqualsTorchaudios) {
  expect_equal(run(settings_of(256, 80, 24), signal()), "torchaudio", 2e-4F);
  LogMelSettings inside = settings_of(200, 80, 16);
  inside.pad = FramePad::kNone;
  expect_equal(run(inside, signal()), "torchaudio_inside", 2e-4F);
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
  expect_equal(run(settings, signal()), "torchaudio_magnitudes", 1e-3F);
}

TEST(LogMel, EqualsLibrosas) { expect_equal(run(librosa_settings(), signal()), "librosa", 1e-3F); }

TEST(LogMel, WithAMeanAndADivisorEqualsWhispers) {
  LogMelSettings settings = librosa_settings();
  settings.pad = FramePad::kReflect;
  settings.log = LogKind::kBase10;
  settings.mean = -4;
  settings.std = 4;
  expect_equal(run(settings, signal()), "whisper", 1e-4F);
}

TEST(Mfcc, EqualsLibrosas) {
  const std::vector<float> mels = run(librosa_settings(), signal());
  const Cosine cosine(20, 13);
  std::vector<float> out(mels.size() / 20 * 13);
  for (std::size_t frame = 0; frame < mels.size() / 20; ++frame) {
    cosine.apply(std::span(mels).subspan(frame * 20, 20), std::span(out).subspan(frame * 13, 13));
  }
  expect_equal(out, "librosa_mfcc", 2e-3F);
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
  const std::vector<float> samples = signal();
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
