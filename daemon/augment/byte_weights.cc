#include <algorithm>
#include <cstring>

#include "augment/byte_passes.h"

namespace echoline::augment {
namespace {

constexpr std::size_t kTaps = 4;  // of one product
constexpr std::size_t kChannels = 3;

// Four weights, byte by byte: planes[b] has byte b of each.
struct Quad {
  std::uint32_t planes[ByteWeights::kPlanes] = {};
  std::int32_t spare = 0;  // not 0: a weight has more bytes
};

// Signed bytes: what a low byte is too small by, the next one has more.
Quad quad_of(std::span<const std::int32_t> values, std::size_t first) {
  std::int32_t rest[kTaps] = {};
  for (std::size_t k = 0; k < kTaps && first + k < values.size(); ++k) rest[k] = values[first + k];
  Quad quad;
  for (std::uint32_t& plane : quad.planes) {
    for (std::size_t k = 0; k < kTaps; ++k) {
      plane |= (static_cast<std::uint32_t>(rest[k]) & 0xFF) << 8 * k;
      rest[k] = (rest[k] + 128) >> 8;
    }
  }
  for (const std::int32_t value : rest) quad.spare |= value;
  return quad;
}

std::size_t quads_of(std::size_t taps) { return (taps + kTaps - 1) / kTaps; }

}  // namespace

bool ByteWeights::make_rows(const Weights& weights) {
  const std::size_t count = weights.taps.size();
  const std::size_t quads_max = quads_of(weights.stride);
  groups_.clear();
  vectors_.resize((count + kOutputs - 1) / kOutputs * (1 + kPlanes * quads_max) * kVector);
  std::memset(vectors_.data(), 0, vectors_.size());
  std::size_t place = 0;
  std::int32_t spare = 0;
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
        spare |= quad.spare;
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
  return spare == 0;
}

bool ByteWeights::make_columns(const Weights& weights) {
  quad_stride_ = quads_of(weights.stride) * kPlanes;
  quads_.resize(weights.taps.size() * quad_stride_);
  std::int32_t spare = 0;
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    std::uint32_t* out = quads_.data() + i * quad_stride_;
    for (std::size_t k = 0; k < weights.taps[i].count; k += kTaps) {
      const Quad quad = quad_of(weights.of(i), k);
      out = std::copy_n(quad.planes, kPlanes, out);
      spare |= quad.spare;
    }
  }
  return spare == 0;
}

}  // namespace echoline::augment
