#include <algorithm>
#include <cstring>

#include "augment/byte_passes.h"

namespace echoline::augment {
namespace {

constexpr std::size_t kTaps = 4;  // of one product
constexpr std::size_t kChannels = 3;
// Three signed bytes hold numbers up to here.
constexpr std::int32_t kWeightMax = (127 << 16) + (127 << 8) + 127;
constexpr std::int32_t kWeightMin = -(128 << 16) - (128 << 8) - 128;

// Four weights, byte by byte: planes[b] has byte b of each.
struct Quad {
  std::uint32_t planes[ByteWeights::kPlanes] = {};
};

// Signed bytes: what a low byte is too small by, the next one has more.
Quad quad_of(std::span<const std::int32_t> values, std::size_t first) {
  Quad quad;
  const std::size_t end = std::min(values.size(), first + kTaps);
  for (std::size_t k = first; k < end; ++k) {
    std::int32_t rest = values[k];
    for (std::uint32_t& plane : quad.planes) {
      const auto low = static_cast<std::int8_t>(rest);
      plane |= std::uint32_t{static_cast<std::uint8_t>(low)} << 8 * (k - first);
      rest = (rest - low) >> 8;
    }
  }
  return quad;
}

bool fit(const Weights& weights) {
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    for (const std::int32_t value : weights.of(i)) {
      if (value < kWeightMin || value > kWeightMax) return false;
    }
  }
  return true;
}

std::size_t quads_of(std::size_t taps) { return (taps + kTaps - 1) / kTaps; }

}  // namespace

bool ByteWeights::make_rows(const Weights& weights) {
  if (!fit(weights)) return false;
  const std::size_t count = weights.taps.size();
  const std::size_t quads_max = quads_of(weights.stride);
  groups_.clear();
  vectors_.resize((count + kOutputs - 1) / kOutputs * (1 + kPlanes * quads_max) * kVector);
  std::memset(vectors_.data(), 0, vectors_.size());
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; i += kOutputs) {
    const std::size_t end = std::min(i + kOutputs, count);
    Group group{UINT32_MAX, 0, place};
    std::uint32_t last = 0;
    for (std::size_t j = i; j < end; ++j) {
      group.first = std::min(group.first, weights.taps[j].first);
      last = std::max(last, weights.taps[j].first);
      const auto quads = static_cast<std::uint32_t>(quads_of(weights.taps[j].count));
      group.quads = std::max(group.quads, quads);
    }
    if ((last - group.first + kTaps) * kChannels > kVector) return false;
    auto* const lanes = reinterpret_cast<std::uint32_t*>(vectors_.data()) + place * (kVector / 4);
    for (std::size_t j = i; j < end; ++j) {
      const std::uint32_t at = (weights.taps[j].first - group.first) * kChannels;
      const std::size_t lane = (j - i) * kChannels;
      for (std::uint32_t c = 0; c < kChannels; ++c) {
        lanes[lane + c] = 0x09060300U + (at + c) * 0x01010101U;
      }
      for (std::size_t q = 0; q < group.quads; ++q) {
        const Quad quad = quad_of(weights.of(j), q * kTaps);
        for (std::size_t b = 0; b < kPlanes; ++b) {
          std::uint32_t* plane = lanes + (1 + q * kPlanes + b) * (kVector / 4) + lane;
          std::fill_n(plane, kChannels, quad.planes[b]);
        }
      }
    }
    group.first *= kChannels;
    place += 1 + kPlanes * group.quads;
    groups_.push_back(group);
  }
  return true;
}

bool ByteWeights::make_columns(const Weights& weights) {
  if (!fit(weights)) return false;
  quad_stride_ = quads_of(weights.stride) * kPlanes;
  quads_.resize(weights.taps.size() * quad_stride_);
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    std::uint32_t* out = quads_.data() + i * quad_stride_;
    for (std::size_t k = 0; k < weights.taps[i].count; k += kTaps) {
      const Quad quad = quad_of(weights.of(i), k);
      out = std::copy_n(quad.planes, kPlanes, out);
    }
  }
  return true;
}

}  // namespace echoline::augment
