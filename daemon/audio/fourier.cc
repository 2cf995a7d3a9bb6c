#include "audio/fourier.h"

#include <cmath>

#include "base/check.h"

namespace echoline::audio {

bool RealFourier::has_size(std::uint32_t size) {
  if (size < 2 || size % 2 != 0) return false;
  for (const std::uint32_t factor : {2U, 3U, 5U}) {
    while (size % factor == 0) size /= factor;
  }
  return size == 1;
}

RealFourier::RealFourier(std::uint32_t size)
    : state_(kiss_fftr_alloc(static_cast<int>(size), 0, nullptr, nullptr)),
      spectrum_(size / 2 + 1),
      values_(size / 2 + 1) {
  ECHOLINE_CHECK(has_size(size) && state_ != nullptr);
}

std::span<const float> RealFourier::squares(std::span<const float> signal) {
  kiss_fftr(state_.get(), signal.data(), spectrum_.data());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = spectrum_[i].r * spectrum_[i].r + spectrum_[i].i * spectrum_[i].i;
  }
  return values_;
}

std::span<const float> RealFourier::magnitudes(std::span<const float> signal) {
  squares(signal);
  for (float& value : values_) value = std::sqrt(value);
  return values_;
}

}  // namespace echoline::audio
