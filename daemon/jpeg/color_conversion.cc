// The vector loop, written once with Highway; see jpeg/color_conversion_plain.h for what it
// computes.
#include "jpeg/color_conversion.h"

#include <cstring>

#include "jpeg/color_conversion_plain.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/color_conversion.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE

using Wide = hn::ScalableTag<std::int16_t>;
using Sums = hn::Repartition<std::int32_t, Wide>;
using Narrow = hn::Rebind<std::uint8_t, Wide>;
using VWide = hn::Vec<Wide>;
constexpr Wide kWide;
constexpr Sums kSums;
constexpr Narrow kNarrow;
constexpr std::size_t kLanes = hn::MaxLanes(kWide);

HWY_INLINE VWide load(const std::uint8_t* at) {
  return hn::PromoteTo(kWide, hn::LoadU(kNarrow, at));
}

// chroma * kFactor / 2^16, rounded. kFactor is what is left of a factor without its whole part,
// which the caller adds, because it must be below 2^15. The product of the doubled chroma has one
// bit more, for the rounding.
template <int kFactor>
HWY_INLINE VWide multiplied(VWide chroma) {
  const VWide product = hn::MulHigh(hn::Add(chroma, chroma), hn::Set(kWide, kFactor));
  return hn::ShiftRight<1>(hn::Add(product, hn::Set(kWide, 1)));
}

// The green part: both factors at once. That of Cr gets 1 added, to be below 2^15 in size.
HWY_INLINE hn::Vec<Sums> green_sums(VWide pairs) {
  using F = ColorFactors;
  constexpr auto kFactors =
      static_cast<std::int32_t>((static_cast<std::uint32_t>(-F::kCbToGreen) & 0xFFFF) |
                                static_cast<std::uint32_t>(0x10000 - F::kCrToGreen) << 16);
  hn::Vec<Sums> more = hn::Zero(kSums);
  const auto products = hn::ReorderWidenMulAccumulate(
      kSums, pairs, hn::BitCast(kWide, hn::Set(kSums, kFactors)), hn::Zero(kSums), more);
  // Added only here: NEON's loop adds pairs of the first sums, each of which would have it.
  const auto sums = hn::Add(hn::RearrangeToOddPlusEven(products, more), hn::Set(kSums, F::kHalf));
  return hn::ShiftRight<16>(sums);
}

HWY_INLINE void convert(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                        std::uint8_t* rgb) {
  using F = ColorFactors;
  const VWide level = hn::Set(kWide, 128);
  const VWide gray = load(y);
  const VWide blue = hn::Sub(load(cb), level);
  const VWide red = hn::Sub(load(cr), level);
  const VWide r = hn::Add(gray, hn::Add(red, multiplied<F::kCrToRed - 0x10000>(red)));
  const VWide b =
      hn::Add(gray, hn::Add(hn::Add(blue, blue), multiplied<F::kCbToBlue - 0x20000>(blue)));
  const VWide green = hn::ReorderDemote2To(kWide, green_sums(hn::InterleaveLower(kWide, blue, red)),
                                           green_sums(hn::InterleaveUpper(kWide, blue, red)));
  const VWide g = hn::Add(gray, hn::Sub(green, red));
  hn::StoreInterleaved3(hn::DemoteTo(kNarrow, r), hn::DemoteTo(kNarrow, g),
                        hn::DemoteTo(kNarrow, b), kNarrow, rgb);
}

void rgb_loop(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
              std::size_t count, std::uint8_t* rgb) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) convert(y + i, cb + i, cr + i, rgb + 3 * i);
  if (i == count) return;
  alignas(64) std::uint8_t last[3 * kLanes];
  convert(y + i, cb + i, cr + i, last);
  std::memcpy(rgb + 3 * i, last, 3 * (count - i));
}

#else

void rgb_loop(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
              std::size_t count, std::uint8_t* rgb) {
  ycbcr_to_rgb_plain(y, cb, cr, count, rgb);
}

#endif

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(rgb_loop);

void ycbcr_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                  std::size_t count, std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(rgb_loop)(y, cb, cr, count, rgb);
}

void gray_to_rgb(const std::uint8_t* gray, std::size_t count, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < count; ++i, rgb += 3) rgb[0] = rgb[1] = rgb[2] = gray[i];
}

}  // namespace echoline::jpeg
#endif
