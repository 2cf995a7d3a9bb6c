#include "audio/cosine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace echoline::audio {

Cosine::Cosine(std::uint32_t size, std::uint32_t coefficients) : coefficients_(coefficients) {
  matrix_.reserve(std::size_t{size} * coefficients);
  for (std::uint32_t i = 0; i < size; ++i) {
    for (std::uint32_t k = 0; k < coefficients; ++k) {
      const double norm = std::sqrt((k == 0 ? 1.0 : 2.0) / size);
      matrix_.push_back(
          static_cast<float>(norm * std::cos(std::numbers::pi / size * (i + 0.5) * k)));
    }
  }
}

void Cosine::apply(std::span<const float> values, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  const float* row = matrix_.data();
  for (const float value : values) {
    for (std::uint32_t k = 0; k < coefficients_; ++k) out[k] += value * row[k];
    row += coefficients_;
  }
}

}  // namespace echoline::audio
