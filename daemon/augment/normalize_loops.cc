// The vector loops, written once with Highway: see augment/normalize_loops.h for what they compute.
#include "augment/normalize_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/normalize_loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef ECHOLINE_NORMALIZE_LOOPS_ONCE
#define ECHOLINE_NORMALIZE_LOOPS_ONCE
namespace echoline::augment {

inline constexpr float kReciprocal = 1.0F / 255.0F;
// What the float lacks.
inline constexpr auto kReciprocalRest = static_cast<float>(1.0 / 255.0 - double{kReciprocal});

}  // namespace echoline::augment
#endif

HWY_BEFORE_NAMESPACE();
namespace echoline::augment::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The results are only equal with fused multiply-add.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE && HWY_NATIVE_FMA

using Floats = hn::ScalableTag<float>;
using VFloats = hn::Vec<Floats>;
constexpr Floats kFloats;
constexpr std::size_t kLanes = hn::MaxLanes(kFloats);
static_assert(NormalizeSteps::kPeriod % (3 * kLanes) == 0);

bool available() { return true; }

HWY_INLINE VFloats normalized(const std::uint8_t* in, const NormalizeSteps& steps,
                              std::size_t place) {
  const hn::Rebind<std::uint8_t, Floats> bytes;
  const hn::Rebind<std::int32_t, Floats> words;
  const VFloats value = hn::ConvertTo(kFloats, hn::PromoteTo(words, hn::LoadU(bytes, in)));
  const VFloats share = hn::MulAdd(value, hn::Set(kFloats, kReciprocal),
                                   hn::Mul(value, hn::Set(kFloats, kReciprocalRest)));
  const VFloats distance = hn::Sub(share, hn::LoadU(kFloats, steps.means.data() + place));
  return hn::MulAdd(distance, hn::LoadU(kFloats, steps.reciprocals.data() + place),
                    hn::Mul(distance, hn::LoadU(kFloats, steps.rests.data() + place)));
}

HWY_INLINE void store(VFloats values, float* out) { hn::StoreU(values, kFloats, out); }

HWY_INLINE void store(VFloats values, std::uint16_t* out) {
  const hn::Rebind<hwy::float16_t, Floats> halves;
  const hn::Rebind<std::uint16_t, Floats> words;
  hn::StoreU(hn::BitCast(words, hn::DemoteTo(halves, values)), words, out);
}

template <typename T>
HWY_INLINE void row_loop(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
                         T* out) {
  constexpr std::size_t kEach = 3 * kLanes;
  std::size_t i = 0;
  for (; i + kEach <= count; i += kEach) {
    for (std::size_t place = 0; place < kEach; place += kLanes) {
      store(normalized(in + i + place, steps, place), out + i + place);
    }
  }
  if (i == count) return;
  std::uint8_t last[kEach] = {};
  T values[kEach];
  std::memcpy(last, in + i, count - i);
  for (std::size_t place = 0; place < kEach; place += kLanes) {
    store(normalized(last + place, steps, place), values + place);
  }
  std::memcpy(out + i, values, (count - i) * sizeof(T));
}

void float_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps, float* out) {
  row_loop(in, count, steps, out);
}
void half_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
              std::uint16_t* out) {
  row_loop(in, count, steps, out);
}

std::size_t split_loop(const std::uint8_t* rgb, std::size_t count, std::size_t stride,
                       std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> bytes;
  constexpr std::size_t kEach = hn::MaxLanes(bytes);
  std::size_t i = 0;
  for (; i + kEach <= count; i += kEach) {
    auto red = hn::Undefined(bytes);
    auto green = hn::Undefined(bytes);
    auto blue = hn::Undefined(bytes);
    hn::LoadInterleaved3(bytes, rgb + 3 * i, red, green, blue);
    hn::StoreU(red, bytes, out + i);
    hn::StoreU(green, bytes, out + stride + i);
    hn::StoreU(blue, bytes, out + 2 * stride + i);
  }
  return i;
}

#else

bool available() { return false; }
void float_row(const std::uint8_t*, std::size_t, const NormalizeSteps&, float*) {}
void half_row(const std::uint8_t*, std::size_t, const NormalizeSteps&, std::uint16_t*) {}
std::size_t split_loop(const std::uint8_t*, std::size_t, std::size_t, std::uint8_t*) { return 0; }

#endif

}  // namespace echoline::augment::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::augment {

HWY_EXPORT(available);
HWY_EXPORT(float_row);
HWY_EXPORT(half_row);
HWY_EXPORT(split_loop);

namespace {

// What the loops compute.
float normalized(float value, const NormalizeSteps& steps, std::size_t place) {
  const float share = std::fma(value, kReciprocal, value * kReciprocalRest);
  const float distance = share - steps.means[place];
  return std::fma(distance, steps.reciprocals[place], distance * steps.rests[place]);
}

}  // namespace

std::optional<NormalizeSteps> find_steps(std::span<const float> means,
                                         std::span<const float> deviations,
                                         std::span<const NormalizedValues> expected) {
  NormalizeSteps steps;
  for (std::size_t i = 0; i < NormalizeSteps::kPeriod; ++i) {
    const std::size_t channel = i % means.size();
    const double reciprocal = 1.0 / double{deviations[channel]};
    steps.means[i] = means[channel];
    steps.reciprocals[i] = static_cast<float>(reciprocal);
    steps.rests[i] = static_cast<float>(reciprocal - double{steps.reciprocals[i]});
  }
  for (std::size_t channel = 0; channel < means.size(); ++channel) {
    for (std::size_t value = 0; value < 256; ++value) {
      const float made = normalized(static_cast<float>(value), steps, channel);
      if (std::bit_cast<std::uint32_t>(made) !=
          std::bit_cast<std::uint32_t>(expected[channel][value])) {
        return std::nullopt;
      }
    }
  }
  return steps;
}

bool has_normalize_loops() { return HWY_DYNAMIC_DISPATCH(available)(); }

void normalize_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(float_row)(in, count, steps, out);
}

void normalize_row(const std::uint8_t* in, std::size_t count, const NormalizeSteps& steps,
                   std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(half_row)(in, count, steps, out);
}

void split_channels(const std::uint8_t* rgb, std::size_t count, std::size_t stride,
                    std::uint8_t* out) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(split_loop)(rgb, count, stride, out); i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) out[c * stride + i] = rgb[3 * i + c];
  }
}

}  // namespace echoline::augment
#endif
