// Noise from audio files, kept in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::audio {

// Immutable; any thread may read it.
class NoiseFiles {
 public:
  // Reads a local file, or the audio files of a folder and its folders, in the order of their
  // paths: one channel of samples (the mean of all), at `rate`. Other files of a folder are left
  // out, by their extension. Errors name the file: kNotFound: no audio files; kResourceExhausted:
  // more than `bytes_max` bytes of samples.
  static Result<NoiseFiles> read(const std::string& path, std::uint32_t rate,
                                 std::uint64_t bytes_max);

  // At least one file, each with at least one sample.
  std::size_t count() const { return files_.size(); }
  std::span<const float> samples(std::size_t file) const { return files_[file]; }
  std::uint64_t bytes() const;
  // Of what the files contain, in their order.
  const std::string& hash() const { return hash_; }

 private:
  std::vector<std::vector<float>> files_;
  std::string hash_;
};

}  // namespace echoline::audio
