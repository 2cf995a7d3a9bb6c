// Reads any bytes as an audio file. The first byte chooses the rate, the channel and whether other
// rates are converted. No sample is more than the limit, and none is not finite.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "audio/audio_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  // Reused as in a worker: a broken file must leave no state.
  static echoline::audio::AudioReader reader;
  echoline::audio::AudioSettings settings{.rate = (data[0] & 1) != 0 ? 8000U : 16000U,
                                          .resample = (data[0] & 2) != 0,
                                          .max_seconds = 0.5};
  if ((data[0] & 4) != 0) settings.channel = data[0] >> 3 & 1;
  const auto samples = reader.read(std::as_bytes(std::span(data + 1, bytes - 1)), settings);
  if (!samples.ok()) return 0;
  if (samples.value().size() > settings.samples_max()) std::abort();
  for (const float sample : samples.value()) {
    if (!std::isfinite(sample)) std::abort();
  }
  return 0;
}
