// Reads a whole audio file into one channel of one rate, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/audio_file.h"
#include "base/status.h"

namespace echoline::audio {

struct AudioSettings {
  std::uint32_t rate = 0;
  bool resample = false;  // files of another rate are converted; else they are refused
  double max_seconds = 0;
  // Nothing: the mean of all channels.
  std::optional<std::uint32_t> channel = std::nullopt;

  // The largest number of samples of a result.
  std::uint64_t samples_max() const;
};

// The reusable state of one thread.
class AudioReader {
 public:
  // The samples are valid until the next call. kInvalidArgument: another rate, no such channel;
  // kResourceExhausted: longer than max_seconds; kDataLoss: damaged, or a value that is not finite.
  Result<std::span<const float>> read(std::span<const std::byte> bytes,
                                      const AudioSettings& settings);

 private:
  Status read_all(const AudioInfo& info, const AudioSettings& settings);
  void append(std::span<const float> interleaved, std::uint32_t channels,
              const std::optional<std::uint32_t>& channel);

  AudioFile file_;
  std::vector<float> block_;    // interleaved
  std::vector<float> samples_;  // one channel, rate of the file
  std::vector<float> resampled_;
};

}  // namespace echoline::audio
