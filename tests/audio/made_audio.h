// Audio files made by libsndfile, in memory.
#pragma once

#include <sndfile.h>

#include <cstdint>
#include <string>
#include <vector>

namespace echoline::audio {

// A tone with noise, below full scale; channels differ.
std::vector<float> made_samples(std::size_t frames, std::uint32_t channels = 1);

// `format` is libsndfile's, for example SF_FORMAT_WAV | SF_FORMAT_PCM_16.
std::string made_file(int format, std::uint32_t rate, std::uint32_t channels,
                      const std::vector<float>& interleaved);

}  // namespace echoline::audio
