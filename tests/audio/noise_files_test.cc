// Noise from files: which files, at which rate, within which memory, and the hash of their content.
#include "audio/noise_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "audio/made_audio.h"

namespace echoline::audio {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr int kWav = SF_FORMAT_WAV | SF_FORMAT_FLOAT;

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(testing::TempDir() + "/noise_" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ + "/below");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

TEST(NoiseFiles, AreTheAudioFilesOfAllFoldersInTheOrderOfTheirPaths) {
  const Folder folder("all");
  const std::vector<float> first = made_samples(50), second = made_samples(70);
  folder.write("z.WAV", made_file(kWav, 1000, 1, second));
  folder.write("below/a.wav", made_file(kWav, 1000, 1, first));
  folder.write("README.txt", "words");
  const auto noise = NoiseFiles::read(folder.path(), 1000, 480);
  ASSERT_TRUE(noise.ok()) << noise.status().message();
  ASSERT_EQ(noise.value().count(), 2U);
  EXPECT_THAT(noise.value().samples(0), ElementsAreArray(first));
  EXPECT_THAT(noise.value().samples(1), ElementsAreArray(second));
  EXPECT_EQ(noise.value().bytes(), 480U);
  EXPECT_EQ(NoiseFiles::read(folder.path() + "/z.WAV", 1000, 480).value().count(), 1U);
}

TEST(NoiseFiles, AreFoundThroughLinksToFilesAndFolders) {
  const Folder folder("links"), other("linked");
  other.write("below/a.wav", made_file(kWav, 1000, 1, made_samples(50)));
  std::filesystem::create_directory_symlink(other.path(), folder.path() + "/other");
  std::filesystem::create_symlink(other.path() + "/below/a.wav", folder.path() + "/b.wav");
  EXPECT_EQ(NoiseFiles::read(folder.path(), 1000, 4000).value().count(), 2U);
  std::filesystem::create_directory_symlink("..", folder.path() + "/below/up");
  EXPECT_THAT(NoiseFiles::read(folder.path(), 1000, 4000).status().message(),
              HasSubstr("below/up: a link leads back up to a folder that it lies in"));
}

TEST(NoiseFiles, GetTheRateOfTheField) {
  const Folder folder("rate");
  folder.write("a.wav", made_file(kWav, 2000, 1, made_samples(100)));
  EXPECT_EQ(NoiseFiles::read(folder.path(), 1000, 1000).value().samples(0).size(), 50U);
}

TEST(NoiseFiles, HaveAHashOfTheirContentAndNotOfTheirPlace) {
  const Folder one("one"), copy("copy"), other("other");
  one.write("a.wav", made_file(kWav, 1000, 1, made_samples(50)));
  copy.write("below/b.wav", made_file(kWav, 1000, 1, made_samples(50)));
  other.write("a.wav", made_file(kWav, 1000, 1, made_samples(51)));
  const auto hash = [](const Folder& folder) {
    return NoiseFiles::read(folder.path(), 1000, 4000).value().hash();
  };
  EXPECT_EQ(hash(one), hash(copy));
  EXPECT_NE(hash(one), hash(other));
}

TEST(NoiseFiles, AreRefusedWithTheirNameAndWhatToDo) {
  const Folder folder("bad");
  const auto message = [&](std::uint64_t bytes_max = 4000) {
    return NoiseFiles::read(folder.path(), 1000, bytes_max).status().message();
  };
  EXPECT_THAT(message(), HasSubstr("no .wav, .flac"));
  EXPECT_THAT(NoiseFiles::read(folder.path() + "/none", 1000, 4000).status().message(),
              HasSubstr("/none"));
  folder.write("a.wav", made_file(kWav, 1000, 1, made_samples(100)));
  folder.write("b.wav", made_file(kWav, 1000, 1, made_samples(100)));
  EXPECT_EQ(message(800), "");
  EXPECT_THAT(message(799), HasSubstr("b.wav: with it, the noise takes more than 799 bytes"));
  folder.write("b.wav", "no audio");
  EXPECT_THAT(message(), HasSubstr("b.wav: "));
  folder.write("b.wav", made_file(kWav, 1000, 1, {}));
  EXPECT_THAT(message(), HasSubstr("b.wav: too short, not one sample at "));
}

}  // namespace
}  // namespace echoline::audio
