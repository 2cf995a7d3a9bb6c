// The Fourier transform of real signals, by kissfft.
#pragma once

#include <kiss_fftr.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace echoline::audio {

// Of a fixed size. One thread: kissfft keeps buffers in it.
class RealFourier {
 public:
  // Whether transforms of this size are fast and allocate nothing: even, at least 2, and without
  // prime factors other than 2, 3 and 5.
  static bool has_size(std::uint32_t size);

  explicit RealFourier(std::uint32_t size);
  // The magnitudes, or their squares, of the size / 2 + 1 frequencies of `signal`, which has `size`
  // samples. They are valid until the next call.
  std::span<const float> squares(std::span<const float> signal);
  std::span<const float> magnitudes(std::span<const float> signal);

 private:
  struct Free {
    void operator()(kiss_fftr_state* state) const { kiss_fftr_free(state); }
  };

  std::unique_ptr<kiss_fftr_state, Free> state_;
  std::vector<kiss_fft_cpx> spectrum_;
  std::vector<float> values_;
};

}  // namespace echoline::audio
