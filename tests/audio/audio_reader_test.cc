// Audio files: every format, channels, rates, limits, and files that lie or are damaged.
#include "audio/audio_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "audio/golden.h"
#include "audio/made_audio.h"

namespace echoline::audio {
namespace {

using ::testing::HasSubstr;

constexpr int kWav16 = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
constexpr int kWavFloat = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;

AudioSettings settings_of(std::uint32_t rate) { return {.rate = rate, .max_seconds = 2}; }

// Keeps its reader from file to file, as a worker does.
class Read {
 public:
  explicit Read(const AudioSettings& settings) : settings_(settings) {}

  Status operator()(const std::string& file) {
    const auto result = reader_.read(std::as_bytes(std::span(file)), settings_);
    samples_.clear();
    if (result.ok()) samples_.assign(result.value().begin(), result.value().end());
    return result.status();
  }
  const std::vector<float>& samples() const { return samples_; }

 private:
  const AudioSettings settings_;
  AudioReader reader_;
  std::vector<float> samples_;
};

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

TEST(AudioReader, ReadsEveryFormatAsItWasWritten) {
  struct Case {
    const char* name;
    int format;
    float bound;
  };
  const std::vector<float> samples = made_samples(4000);
  const Case cases[] = {{"float WAV", kWavFloat, 0},
                        {"double WAV", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 0},
                        {"24-bit WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 2e-7F},
                        {"16-bit WAV", kWav16, 4e-5F},
                        {"8-bit WAV", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 9e-3F},
                        {"mu-law WAV", SF_FORMAT_WAV | SF_FORMAT_ULAW, 2e-2F},
                        {"RF64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 4e-5F},
                        {"extensible WAV", SF_FORMAT_WAVEX | SF_FORMAT_PCM_16, 4e-5F},
                        {"FLAC", kFlac, 4e-5F},
                        {"Vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0.2F},
                        {"Opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 0.3F},
                        {"MP3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 0.3F}};
  Read read(settings_of(16000));
  for (const Case& one : cases) {
    const Status status = read(made_file(one.format, 16000, 1, samples));
    ASSERT_TRUE(status.ok()) << one.name << ": " << status.message();
    EXPECT_EQ(read.samples().size(), samples.size()) << one.name;
    EXPECT_LE(largest_difference(read.samples(), samples), one.bound) << one.name;
  }
}

TEST(AudioReader, MixesChannelsAsNumpysMeanOrTakesOne) {
  const std::vector<float> both = made_samples(100, 2);
  const std::string file = made_file(kWavFloat, 8000, 2, both);
  Read mixed(settings_of(8000));
  ASSERT_TRUE(mixed(file).ok());
  AudioSettings second = settings_of(8000);
  second.channel = 1;
  Read one(second);
  ASSERT_TRUE(one(file).ok());
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(mixed.samples()[i], (both[2 * i] + both[2 * i + 1]) / 2);
    EXPECT_EQ(one.samples()[i], both[2 * i + 1]);
  }
  const Status status = one(made_file(kWavFloat, 8000, 1, made_samples(100)));
  EXPECT_THAT(status.message(), HasSubstr("channel 1 is configured; the file has 1 channels"));
}

TEST(AudioReader, AnotherRateIsRefusedOrConverted) {
  const std::string file = made_file(kWavFloat, 8000, 1, made_samples(8000));
  Read strict(settings_of(16000));
  const Status status = strict(file);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("the rate is 8000; 16000 is configured"));
  AudioSettings converting = settings_of(16000);
  converting.resample = true;
  Read converted(converting);
  ASSERT_TRUE(converted(file).ok());
  EXPECT_EQ(converted.samples().size(), 16000U);
}

TEST(AudioReader, ConvertsRatesAsSoxrOfPython) {
  AudioSettings settings = settings_of(12000);
  settings.resample = true;
  Read read(settings);
  std::vector<float> samples = golden_signal();
  samples.resize(400);
  ASSERT_TRUE(read(made_file(kWavFloat, 8000, 1, samples)).ok());
  expect_golden(read.samples(), "soxr", 1e-6F);
}

TEST(AudioReader, EmptyAudioHasNoSamples) {
  Read read(settings_of(8000));
  ASSERT_TRUE(read(made_file(kWav16, 8000, 1, {})).ok());
  EXPECT_TRUE(read.samples().empty());
}

TEST(AudioReader, LongerAudioThanAllowedIsRefusedAndNeverCut) {
  Read read(settings_of(8000));
  EXPECT_TRUE(read(made_file(kFlac, 8000, 1, made_samples(16000))).ok());
  for (const int format : {kWav16, kFlac, SF_FORMAT_OGG | SF_FORMAT_VORBIS}) {
    const Status status = read(made_file(format, 8000, 1, made_samples(16001)));
    EXPECT_EQ(status.code(), Code::kResourceExhausted);
    EXPECT_THAT(status.message(), HasSubstr("longer than max_seconds, 2"));
  }
}

TEST(AudioReader, HeadersThatStateABillionSamplesCostNoMemory) {
  std::string flac = made_file(kFlac, 8000, 1, made_samples(1000));
  // The 36 bits of the number of samples in the first block, after 4 + 4 + 13 bytes and 4 bits.
  flac[22] = '\x3B';
  Read read(settings_of(8000));
  EXPECT_EQ(read(flac).code(), Code::kResourceExhausted);
  flac = made_file(kFlac, 8000, 1, made_samples(1000));
  flac[24] = '\x07';  // 2024 samples: allowed, but not there
  EXPECT_EQ(read(flac).code(), Code::kDataLoss);
  // A WAV header may state any length where a program wrote it before the samples: the file
  // decides.
  std::string wav = made_file(kWav16, 8000, 1, made_samples(1000));
  std::memcpy(wav.data() + 40, "\xFF\xFF\xFF\x7F", 4);
  ASSERT_TRUE(read(wav).ok());
  EXPECT_EQ(read.samples().size(), 1000U);
}

TEST(AudioReader, ValuesThatAreNotFiniteAreRefused) {
  std::vector<float> samples = made_samples(100);
  Read read(settings_of(8000));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    samples[42] = bad;
    const Status status = read(made_file(kWavFloat, 8000, 1, samples));
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("sample 42 is"));
  }
}

TEST(AudioReader, ValuesThatAreNotFiniteAtAnotherRateAreRefused) {
  // Each is finite, but the filter's sum of them is not.
  std::vector<float> samples(400);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i / 8 % 2 == 0 ? 3.4e38F : -3.4e38F;
  AudioSettings settings = settings_of(12000);
  settings.resample = true;
  Read read(settings);
  EXPECT_EQ(read(made_file(kWavFloat, 8000, 1, samples)).code(), Code::kDataLoss);
  EXPECT_TRUE(read(made_file(kWavFloat, 8000, 1, made_samples(400))).ok());
}

TEST(AudioReader, OtherFilesAreRefused) {
  Read read(settings_of(8000));
  for (const std::string& file :
       {std::string(), std::string("RIFF"), std::string(100, '\0'),
        std::string("fLaC") + std::string(60, 'x'),
        made_file(SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 8000, 1, made_samples(100)),
        "ID3\x03" + std::string(6, '\0') +
            made_file(SF_FORMAT_AU | SF_FORMAT_PCM_16, 8000, 1, made_samples(100))}) {
    const Status status = read(file);
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("audio file"));
  }
}

TEST(AudioReader, CutAndFlippedFilesAreReadOrRefusedAndLeaveNoState) {
  Read read(settings_of(8000));
  const std::string good = made_file(kFlac, 8000, 1, made_samples(500));
  ASSERT_TRUE(read(good).ok());
  const std::vector<float> expected = read.samples();
  for (const int format :
       {kWav16, kFlac, SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
        SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const std::string file = made_file(format, 8000, 1, made_samples(3000));
    for (std::size_t at = 0; at < file.size(); at += 1 + file.size() / 60) {
      read(file.substr(0, at)).ok();
      std::string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
      read(flipped).ok();
      ASSERT_TRUE(read(good).ok());
      ASSERT_EQ(read.samples(), expected);
    }
  }
  EXPECT_EQ(read(good.substr(0, good.size() / 2)).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace echoline::audio
