#include <algorithm>
#include <cstring>
#include <span>

#include "augment/byte_passes.h"

namespace echoline::augment {
namespace {

constexpr std::size_t kTaps = 4;  // of one product
constexpr std::size_t kChannels = 3;
constexpr std::size_t kQuadsMax = 5;  // of a bicubic filter that takes every fourth pixel

// Four weights, byte by byte: planes[b] has byte b of each.
struct Quad {
  std::uint32_t planes[ByteWeights::kPlanes] = {};
  std::int32_t spare = 0;  // not 0: a weight has more bytes
};

// A low byte of 128 and more counts as negative, so the bytes above it get 1 more. The sum with
// 0x8080 carries that, and the difference from it restores the low bytes.
Quad quad_of(std::span<const std::int32_t> values, std::size_t first) {
  Quad quad;
  const std::size_t count = std::min(kTaps, values.size() - std::min(first, values.size()));
  for (std::size_t k = 0; k < count; ++k) {
    const std::int32_t carried = values[first + k] + 0x8080;
    const std::uint32_t bytes = static_cast<std::uint32_t>(carried) ^ 0x8080;
    quad.planes[0] |= (bytes & 0xFF) << 8 * k;
    quad.planes[1] |= (bytes >> 8 & 0xFF) << 8 * k;
    quad.planes[2] |= (bytes >> 16 & 0xFF) << 8 * k;
    quad.spare |= ((carried >> 16) + 128) >> 8;
  }
  return quad;
}

std::size_t quads_of(std::size_t taps) { return (taps + kTaps - 1) / kTaps; }

// Outputs [begin, end), with the pixels that their first taps are apart.
ByteWeights::Group group_of(const Weights& weights, std::size_t begin, std::size_t end,
                            std::uint32_t& apart) {
  ByteWeights::Group group{UINT32_MAX, 0, 0};
  std::uint32_t last = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Taps& taps = weights.taps[i];
    group.first = std::min(group.first, taps.first);
    last = std::max(last, taps.first);
    group.quads = std::max(group.quads, static_cast<std::uint32_t>(quads_of(taps.count)));
  }
  apart = last - group.first;
  return group;
}

// The lanes of one output, whose first tap is `offset` bytes from the begin of the load: the places
// of its taps, then their weights. Returns Quad::spare of all.
std::int32_t put_output(std::span<const std::int32_t> values, std::uint32_t offset,
                        std::uint32_t quads, std::uint32_t* lanes) {
  constexpr std::uint32_t kEveryThird = 0x09060300;
  constexpr std::uint32_t kEachByte = 0x01010101;
  constexpr std::size_t kLanes = ByteWeights::kVector / 4;
  std::int32_t spare = 0;
  for (std::uint32_t c = 0; c < kChannels; ++c) lanes[c] = kEveryThird + (offset + c) * kEachByte;
  for (std::size_t q = 0; q < quads; ++q) {
    const Quad quad = quad_of(values, q * kTaps);
    spare |= quad.spare;
    for (const std::uint32_t plane : quad.planes) {
      lanes += kLanes;
      std::fill_n(lanes, kChannels, plane);
    }
  }
  return spare;
}

}  // namespace

bool ByteWeights::make_rows(const Weights& weights) {
  const std::size_t count = weights.taps.size();
  const std::size_t quads_max = quads_of(weights.stride);
  // Then the outputs of a group are too far apart, too; found out before memory is taken.
  if (quads_max > kQuadsMax) return false;
  groups_.clear();
  vectors_.resize((count + kOutputs - 1) / kOutputs * (1 + kPlanes * quads_max) * kVector);
  std::memset(vectors_.data(), 0, vectors_.size());
  std::size_t place = 0;
  std::int32_t spare = 0;
  for (std::size_t i = 0; i < count; i += kOutputs) {
    const std::size_t end = std::min(i + kOutputs, count);
    std::uint32_t apart = 0;
    Group group = group_of(weights, i, end, apart);
    if ((apart + kTaps) * kChannels > kVector) return false;
    auto* lanes = reinterpret_cast<std::uint32_t*>(vectors_.data() + place * kVector);
    for (std::size_t j = i; j < end; ++j, lanes += kChannels) {
      const auto offset =
          static_cast<std::uint32_t>(kChannels) * (weights.taps[j].first - group.first);
      spare |= put_output(weights.of(j), offset, group.quads, lanes);
    }
    group.first *= kChannels;
    group.places = place;
    groups_.push_back(group);
    place += 1 + kPlanes * group.quads;
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
