// The orthonormal discrete cosine transform (DCT-II).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echoline::audio {

// Its first `coefficients` of `size` values. Immutable.
class Cosine {
 public:
  Cosine(std::uint32_t size, std::uint32_t coefficients);
  void apply(std::span<const float> values, std::span<float> out) const;

 private:
  const std::uint32_t coefficients_;
  std::vector<float> matrix_;  // [size, coefficients]
};

}  // namespace echoline::audio
