// Converts the rate of audio, by soxr.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace echoline::audio {

// Converts one channel to `to_rate` with soxr's high quality (SOXR_HQ), as soxr.resample of Python
// and librosa's `soxr_hq` do. The result has round(size * to_rate / from_rate) samples.
Status resample(std::span<const float> samples, std::uint32_t from_rate, std::uint32_t to_rate,
                std::vector<float>& out);

}  // namespace echoline::audio
