// The steps on audio and spectrograms: settings, shapes, draws, padding, other fields, no
// allocations. The values of log_mel are compared in tests/audio.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "audio/made_audio.h"
#include "augment/audio_draws.h"
#include "augment/chain.h"
#include "augment/steps.h"
#include "decode/allocations.h"

namespace echoline::augment {
namespace {

using decode::FieldType;
using decode::Sample;
using decode::Shape;
using ::testing::HasSubstr;

constexpr std::uint32_t kRate = 1000;
constexpr char kLogMel[] = "log_mel { field: 'audio' n_fft: 64 hop: 16 n_mels: 8 }";

std::vector<FieldType> types() {
  FieldType audio{.name = "audio", .dtype = shm::kFloat32, .ragged = true, .shape = {{5000}, 1}};
  audio.rate = kRate;
  return {audio, {.name = "label", .dtype = shm::kInt64, .fixed = true, .shape = {}}};
}

Sample sample_of(std::uint32_t samples) {
  Sample sample;
  sample.tensors.resize(2);
  decode::Tensor& audio = sample.tensors[0];
  audio.dtype = shm::kFloat32;
  audio.shape = {{samples}, 1};
  audio.bytes.resize(samples * sizeof(float));
  for (std::uint32_t i = 0; i < samples; ++i) {
    const auto value = static_cast<float>(i + 1);
    std::memcpy(audio.bytes.data() + i * sizeof value, &value, sizeof value);
  }
  sample.tensors[1].dtype = shm::kInt64;
  sample.tensors[1].bytes.resize(sizeof(std::int64_t));
  const std::int64_t label = 7;
  std::memcpy(sample.tensors[1].bytes.data(), &label, sizeof label);
  return sample;
}

// A chain, and the row that it makes.
class Runner {
 public:
  explicit Runner(const std::vector<std::string>& steps) {
    auto compiled = Chain::compile(stream_of(steps), types());
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    chain_ = std::move(compiled).value();
    scratch_ = chain_->make_scratch();
    for (const FieldType& type : outputs()) {
      buffers_.emplace_back(type.shape.elements() * shm::dtype_bytes(type.dtype));
      lengths_.push_back(buffers_.back().size());
    }
    for (Buffer& buffer : buffers_) rows_.push_back(buffer.span());
  }

  const std::vector<FieldType>& outputs() const { return chain_->outputs(); }
  Status run(const Sample& sample, const UseKey& key = {}) {
    return chain_->run(sample, key, *scratch_, rows_, lengths_);
  }
  std::vector<float> made(const Sample& sample, const UseKey& key = {}) {
    const Status status = run(sample, key);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<float> values(lengths_[0] / sizeof(float));
    std::memcpy(values.data(), buffers_[0].data(), lengths_[0]);
    return values;
  }
  std::int64_t number(std::size_t field) const {
    std::int64_t value = 0;
    std::memcpy(&value, buffers_[field].data(), sizeof value);
    return value;
  }

 private:
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<Scratch> scratch_;
  std::vector<Buffer> buffers_;
  std::vector<std::span<std::byte>> rows_;
  std::vector<std::uint64_t> lengths_;
};

// The values are those of tests/augment/draws.py.
TEST(AudioDraws, EqualThoseOfTheSecondImplementation) {
  const auto key = [](std::uint64_t sample) {
    return UseKey{.seed = 7, .sample = sample, .epoch = 3, .use = 2};
  };
  EXPECT_EQ(audio_crop_start(key(0), 1, 1000), 435U);
  EXPECT_EQ(audio_crop_start(key(1), 1, 1000), 714U);
  SampleRandom third(key(3), 1), second(key(2), 1);
  EXPECT_DOUBLE_EQ(decibel_draw(third, {-6, 6}, 0.5).value(), 4.088679476473292);
  EXPECT_FALSE(decibel_draw(second, {-6, 6}, 0.5).has_value());
  SampleRandom random(key(0), 1);
  EXPECT_DOUBLE_EQ(decibel_draw(random, {0, 20}, 1).value(), 8.060309654596027);
  std::vector<float> noise(3);
  normal_draws(random, noise);
  EXPECT_FLOAT_EQ(noise[0], -0.93883051F);
  EXPECT_FLOAT_EQ(noise[1], 0.39604507F);
  EXPECT_FLOAT_EQ(noise[2], -0.94095172F);
  SampleRandom masks(key(5), 1);
  for (const auto& [first, length] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{64, 17}, {71, 20}, {78, 19}}) {
    const Mask mask = mask_draw(masks, 20, 101);
    EXPECT_EQ(mask.first, first);
    EXPECT_EQ(mask.length, length);
  }
}

UseKey key_of(std::uint64_t sample) { return {.seed = 3, .sample = sample, .epoch = 1, .use = 2}; }

TEST(AudioCrop, CutsAtTheDrawnPlaceAndPadsShorterAudioWithZeros) {
  Runner runner({"decode {}", "audio_crop { field: 'audio' seconds: 0.1 lengths: 'samples' }"});
  EXPECT_EQ(runner.outputs()[0].shape, (Shape{{100}, 1}));
  EXPECT_TRUE(runner.outputs()[0].fixed);
  EXPECT_EQ(runner.outputs()[2].name, "samples");
  std::set<std::uint32_t> starts;
  for (std::uint64_t id = 0; id < 200; ++id) {
    const std::uint32_t start = audio_crop_start(key_of(id), 1, 10);
    starts.insert(start);
    const std::vector<float> values = runner.made(sample_of(110), key_of(id));
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(values[i], static_cast<float>(start + i + 1));
  }
  EXPECT_EQ(starts.size(), 11U);
  EXPECT_EQ(runner.number(2), 100);
  const std::vector<float> padded = runner.made(sample_of(40));
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(padded[i], i < 40 ? static_cast<float>(i + 1) : 0.0F);
  }
  EXPECT_EQ(runner.number(1), 7);
  EXPECT_EQ(runner.number(2), 40);
}

TEST(AudioCrop, CanBeAtTheStartOrTheCentre) {
  const std::string crop = "audio_crop { field: 'audio' seconds: 0.1 position: ";
  EXPECT_EQ(Runner({crop + "'start' }"}).made(sample_of(151))[0], 1);
  EXPECT_EQ(Runner({crop + "'center' }"}).made(sample_of(151))[0], 26);
}

TEST(AudioGain, MultipliesByTheDrawnDecibels) {
  Runner runner({"decode {}", "audio_gain { field: 'audio' db: [-6, 6] probability: 0.5 }"});
  EXPECT_TRUE(runner.outputs()[0].ragged);
  int changed = 0;
  for (std::uint64_t id = 0; id < 100; ++id) {
    SampleRandom random(key_of(id), 1);
    const auto decibels = decibel_draw(random, {-6, 6}, 0.5);
    if (decibels) ++changed;
    const double gain = decibels ? std::pow(10, *decibels / 20) : 1;
    const std::vector<float> values = runner.made(sample_of(20), key_of(id));
    ASSERT_EQ(values.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
      ASSERT_FLOAT_EQ(values[i], static_cast<float>((static_cast<double>(i) + 1) * gain));
    }
  }
  EXPECT_NEAR(changed, 50, 20);
}

TEST(AudioNoise, HasTheDrawnRatioToTheSignalAndIsDifferentForEachUse) {
  Runner runner({"decode {}", "audio_noise { field: 'audio' snr: [10, 10] }"});
  const Sample sample = sample_of(4000);
  std::vector<float> noise = runner.made(sample, key_of(1));
  double signal_energy = 0, noise_energy = 0, sum = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double value = static_cast<double>(i) + 1;
    noise[i] -= static_cast<float>(value);
    signal_energy += value * value;
    noise_energy += double{noise[i]} * noise[i];
    sum += noise[i];
  }
  EXPECT_NEAR(10 * std::log10(signal_energy / noise_energy), 10, 0.001);
  const double deviation = std::sqrt(noise_energy / 4000);
  EXPECT_NEAR(sum / 4000, 0, deviation * 4 / std::sqrt(4000));
  // Of normal values, 68.3 % are within one deviation.
  const auto within = std::ranges::count_if(
      noise, [deviation](float value) { return std::abs(value) < deviation; });
  EXPECT_NEAR(static_cast<double>(within) / 4000, 0.683, 0.03);
  EXPECT_NE(runner.made(sample, key_of(1)), runner.made(sample, key_of(2)));
  EXPECT_EQ(runner.made(sample, key_of(1)), runner.made(sample, key_of(1)));
}

// The formula of torchaudio.functional.add_noise, in double, for the part of a file that fits.
TEST(AudioNoise, FromFilesIsAPartOfOneOfThemAtTheDrawnRatio) {
  const std::string path = testing::TempDir() + "/audio_noise.wav";
  const std::vector<float> file = audio::made_samples(300);
  std::ofstream(path, std::ios::binary)
      << audio::made_file(SF_FORMAT_WAV | SF_FORMAT_FLOAT, kRate, 1, file);
  Runner runner({"audio_noise { field: 'audio' snr: [7, 7] files: '" + path + "' }"});
  // Shorter than the file, as long, and longer: the file is repeated.
  for (const std::uint32_t length : {100U, 300U, 700U}) {
    std::set<std::size_t> places;
    for (std::uint64_t sample = 0; sample < 10; ++sample) {
      const std::vector<float> made = runner.made(sample_of(length), key_of(sample));
      double best = 1e9;
      std::size_t best_place = 0;
      for (std::size_t place = 0; place < file.size(); ++place) {
        if (length < 300 && place + length > 300) break;
        double signal = 0, noise = 0, worst = 0;
        for (std::uint32_t i = 0; i < length; ++i) {
          signal += std::pow(i + 1.0, 2);
          noise += std::pow(double{file[(place + i) % file.size()]}, 2);
        }
        const double scale = std::pow(10, (10 * std::log10(signal / noise) - 7) / 20);
        for (std::uint32_t i = 0; i < length; ++i) {
          const double wanted = (i + 1.0) + scale * double{file[(place + i) % file.size()]};
          worst = std::max(worst, std::abs(double{made[i]} - wanted) / length);
        }
        if (worst < best) best_place = place;
        best = std::min(best, worst);
      }
      EXPECT_LT(best, 1e-5) << length;
      places.insert(best_place);
    }
    EXPECT_GT(places.size(), 5U) << length;
  }
  std::filesystem::remove(path);
}

TEST(AudioNoise, OfSilenceIsSilence) {
  Runner runner({"audio_noise { field: 'audio' snr: [0, 20] }"});
  Sample silence = sample_of(10);
  std::memset(silence.tensors[0].bytes.data(), 0, silence.tensors[0].bytes.size());
  EXPECT_EQ(runner.made(silence), std::vector<float>(10, 0.0F));
}

TEST(LogMelStep, IsFixedAfterACropAndElseRaggedInFrames) {
  Runner fixed({"audio_crop { field: 'audio' seconds: 0.2 }", kLogMel});
  EXPECT_TRUE(fixed.outputs()[0].fixed);
  EXPECT_EQ(fixed.outputs()[0].shape, (Shape{{13, 8}, 2}));
  Runner ragged({kLogMel});
  EXPECT_TRUE(ragged.outputs()[0].ragged);
  EXPECT_EQ(ragged.outputs()[0].shape, (Shape{{313, 8}, 2}));
  EXPECT_EQ(ragged.made(sample_of(200)), fixed.made(sample_of(200)));
  EXPECT_THAT(ragged.run(sample_of(20)).message(), HasSubstr("20 samples; at least 33 are needed"));
}

TEST(Mfcc, OfASpectrogramHasTheMeanAsItsFirstCoefficient) {
  const std::vector<float> mels = Runner({kLogMel}).made(sample_of(100));
  Runner runner({kLogMel, "mfcc { field: 'audio' n_mfcc: 3 }"});
  const std::vector<float> made = runner.made(sample_of(100));
  ASSERT_EQ(made.size(), mels.size() / 8 * 3);
  for (std::size_t frame = 0; frame < made.size() / 3; ++frame) {
    const auto row = mels.begin() + static_cast<std::ptrdiff_t>(frame * 8);
    EXPECT_NEAR(made[frame * 3], std::accumulate(row, row + 8, 0.0F) / std::sqrt(8.0F), 1e-4);
  }
}

TEST(SpecAugment, MasksTheDrawnFramesAndFrequencies) {
  const std::string masks =
      "spec_augment { field: 'audio' time_masks: 2 time_width: 20 time_share: 0.5 "
      "frequency_masks: 1 frequency_width: 4 fill: 'zero' }";
  const std::vector<float> plain = Runner({kLogMel}).made(sample_of(160));
  Runner runner({"decode {}", kLogMel, masks});
  for (std::uint64_t id = 0; id < 50; ++id) {
    std::vector<float> expected = plain;
    SampleRandom random(key_of(id), 2);
    for (int mask = 0; mask < 2; ++mask) {
      const Mask frames = mask_draw(random, 5, 11);  // half of the frames
      for (std::uint32_t i = 0; i < frames.length * 8; ++i) expected[frames.first * 8 + i] = 0;
    }
    const Mask bands = mask_draw(random, 4, 8);
    for (std::uint32_t i = 0; i < 11 * bands.length; ++i) {
      expected[i / bands.length * 8 + bands.first + i % bands.length] = 0;
    }
    ASSERT_EQ(runner.made(sample_of(160), key_of(id)), expected);
  }
}

TEST(SpecAugment, FillsWithTheMeanOfTheSample) {
  const std::vector<float> plain = Runner({kLogMel}).made(sample_of(160));
  const double mean = std::accumulate(plain.begin(), plain.end(), 0.0) / 88;
  Runner runner({kLogMel, "spec_augment { field: 'audio' time_masks: 1 time_width: 11 }"});
  std::size_t masked = 0;
  for (std::uint64_t id = 0; id < 20; ++id) {
    const std::vector<float> made = runner.made(sample_of(160), key_of(id));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i] == plain[i]) continue;
      ASSERT_FLOAT_EQ(made[i], static_cast<float>(mean));
      ++masked;
    }
  }
  EXPECT_GT(masked, 0U);
}

TEST(AudioSteps, AllocateNothingPerSample) {
  Runner runner({"audio_gain { field: 'audio' db: [-3, 3] }",
                 "audio_noise { field: 'audio' snr: [5, 20] }",
                 "audio_crop { field: 'audio' seconds: 0.3 lengths: 'samples' }", kLogMel,
                 "mfcc { field: 'audio' n_mfcc: 4 }",
                 "spec_augment { field: 'audio' frequency_masks: 1 frequency_width: 2 }"});
  const Sample longer = sample_of(1000), shorter = sample_of(200);
  ASSERT_TRUE(runner.run(longer).ok());
  const long before = allocation_count;
  ASSERT_TRUE(runner.run(shorter, key_of(1)).ok());
  ASSERT_TRUE(runner.run(longer, key_of(2)).ok());
  EXPECT_EQ(allocation_count, before);
}

TEST(AudioSteps, ReadValuesThatACacheHasAtAnyAddress) {
  Runner runner({"audio_gain { field: 'audio' db: [20, 20] }"});
  const Sample sample = sample_of(9);
  Sample moved = sample_of(0);
  std::vector<std::byte> room(9 * sizeof(float) + 1);
  const std::span<const std::byte> content = sample.tensors[0].content();
  std::copy(content.begin(), content.end(), room.begin() + 1);
  moved.tensors[0].shape = {{9}, 1};
  moved.tensors[0].borrowed = std::span<const std::byte>(room).subspan(1);
  EXPECT_EQ(runner.made(moved), runner.made(sample));
}

TEST(AudioSteps, WrongSettingsAreRefusedWithKeyAndAllowedValues) {
  const auto mel = [](const std::string& settings) {
    return "log_mel { field: 'audio' hop: 16 " + settings + " }";
  };
  const std::pair<std::vector<std::string>, const char*> kCases[] = {
      {{"audio_crop { field: 'label' seconds: 1 }"}, "field label is no audio (as: audio)"},
      {{"audio_crop { field: 'sound' seconds: 1 }"}, "the fields are: audio, label"},
      {{"audio_crop { field: 'audio' }"}, "seconds is 0: 0 samples"},
      {{"audio_crop { field: 'audio' seconds: 1 position: 'end' }"}, "random, start, center"},
      {{"audio_crop { field: 'audio' seconds: 1 lengths: 'label' }"}, "exists already"},
      {{"audio_gain { field: 'audio' db: [3, -3] }"}, "db needs two numbers"},
      {{"audio_noise { field: 'audio' snr: [1] }"}, "snr needs two numbers"},
      {{"audio_noise { field: 'audio' snr: [0, 9] probability: 2 }"}, "probability is 2"},
      {{"audio_noise { field: 'audio' snr: [0, 9] files: '/none' }"}, "files: "},
      {{mel("n_fft: 401 n_mels: 8")}, "n_fft is 401; allowed are even numbers"},
      {{mel("n_fft: 64 n_mels: 8 win_length: 65")}, "win_length is 65; 1 to 64 is allowed"},
      {{mel("n_fft: 64")}, "n_mels is 0; 1 to 1024"},
      {{mel("n_fft: 64 n_mels: 64")}, "some bands have no frequency"},
      {{mel("n_fft: 64 n_mels: 8 f_max: 501")}, "f_max is 501; 0 to 500"},
      {{mel("n_fft: 64 n_mels: 8 f_min: 500")}, "f_min is 500"},
      {{mel("n_fft: 64 n_mels: 8 scale: 'bark'")}, "scale is \"bark\"; allowed are htk, slaney"},
      {{mel("n_fft: 64 n_mels: 8 std: 0")}, "std is 0"},
      {{"log_mel { field: 'audio' n_fft: 64 n_mels: 8 }"}, "hop is 0"},
      {{kLogMel, kLogMel}, "field audio is no audio"},
      {{"mfcc { field: 'audio' n_mfcc: 3 }"}, "field audio is no spectrogram"},
      {{kLogMel, "mfcc { field: 'audio' n_mfcc: 9 }"}, "n_mfcc is 9; 1 to 8"},
      {{kLogMel, "spec_augment { field: 'audio' frequency_width: 9 }"}, "frequency_width is 9"},
      {{kLogMel, "spec_augment { field: 'audio' fill: 'max' }"}, "allowed are mean, zero"},
  };
  for (const auto& [steps, words] : kCases) {
    const auto chain = Chain::compile(stream_of(steps), types());
    ASSERT_FALSE(chain.ok()) << words;
    EXPECT_THAT(chain.status().message(), HasSubstr(words));
  }
}

}  // namespace
}  // namespace echoline::augment
