#include "audio/resampler.h"

#include <fmt/format.h>
#include <soxr.h>

#include <cstddef>

namespace echoline::audio {

Status resample(std::span<const float> samples, std::uint32_t from_rate, std::uint32_t to_rate,
                std::vector<float>& out) {
  // Room for the rounding of soxr, and never 0.
  const std::uint64_t room = (std::uint64_t{samples.size()} * to_rate) / from_rate + 2;
  out.resize(room);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  // One thread: the daemon's workers are the threads.
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  std::size_t made = 0;
  const soxr_error_t error =
      soxr_oneshot(from_rate, to_rate, 1, samples.data(), samples.size(), nullptr, out.data(),
                   out.size(), &made, nullptr, &quality, &runtime);
  if (error != nullptr) {
    return {Code::kInternal,
            fmt::format("soxr cannot convert rate {} to {}: {}", from_rate, to_rate, error)};
  }
  out.resize(made);
  return {};
}

}  // namespace echoline::audio
