// The vector loops, written once with Highway.
#include "jpeg/upsampling.h"

#include "jpeg/upsampling_plain.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/upsampling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE

// A sample is a 16-bit number in between; two samples are stored as one.
using Wide = hn::ScalableTag<std::uint16_t>;
using Narrow = hn::Rebind<std::uint8_t, Wide>;
using VWide = hn::Vec<Wide>;
constexpr Wide kWide;
constexpr Narrow kNarrow;
constexpr std::size_t kLanes = hn::MaxLanes(kWide);

HWY_INLINE VWide load(const std::uint8_t* at) {
  return hn::PromoteTo(kWide, hn::LoadU(kNarrow, at));
}

HWY_INLINE VWide three_times(VWide value) { return hn::Add(value, hn::Add(value, value)); }

// 3/4 near, 1/4 far, times 4.
HWY_INLINE VWide weighted(const std::uint8_t* near, const std::uint8_t* far) {
  return hn::Add(three_times(load(near)), load(far));
}

HWY_INLINE void store_pairs(VWide even, VWide odd, std::uint8_t* out) {
  const hn::Repartition<std::uint8_t, Wide> bytes;
  hn::StoreU(hn::BitCast(bytes, hn::Or(even, hn::ShiftLeft<8>(odd))), bytes, out);
}

void columns_loop(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  const VWide one = hn::Set(kWide, 1);
  const VWide two = hn::Set(kWide, 2);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const VWide middle = three_times(load(in + i));
    const VWide even = hn::Add(hn::Add(middle, load(in + i - 1)), one);
    const VWide odd = hn::Add(hn::Add(middle, load(in + i + 1)), two);
    store_pairs(hn::ShiftRight<2>(even), hn::ShiftRight<2>(odd), out + 2 * i);
  }
}

void rows_loop(const std::uint8_t* near, const std::uint8_t* far, bool below, std::size_t count,
               std::uint8_t* out) {
  const VWide rounding = hn::Set(kWide, below ? 2 : 1);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const VWide sum = hn::ShiftRight<2>(hn::Add(weighted(near + i, far + i), rounding));
    const auto as_signed = hn::BitCast(hn::RebindToSigned<Wide>(), sum);
    hn::StoreU(hn::DemoteTo(kNarrow, as_signed), kNarrow, out + i);
  }
}

void both_loop(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
               std::uint8_t* out) {
  const VWide seven = hn::Set(kWide, 7);
  const VWide eight = hn::Set(kWide, 8);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const VWide middle = three_times(weighted(near + i, far + i));
    const VWide even = hn::Add(hn::Add(middle, weighted(near + i - 1, far + i - 1)), eight);
    const VWide odd = hn::Add(hn::Add(middle, weighted(near + i + 1, far + i + 1)), seven);
    store_pairs(hn::ShiftRight<4>(even), hn::ShiftRight<4>(odd), out + 2 * i);
  }
}

#else

void columns_loop(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  upsample_columns_plain(in, count, out);
}
void rows_loop(const std::uint8_t* near, const std::uint8_t* far, bool below, std::size_t count,
               std::uint8_t* out) {
  upsample_rows_plain(near, far, below, count, out);
}
void both_loop(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
               std::uint8_t* out) {
  upsample_both_plain(near, far, count, out);
}

#endif

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(columns_loop);
HWY_EXPORT(rows_loop);
HWY_EXPORT(both_loop);

void upsample_columns(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(columns_loop)(in, count, out);
}

void upsample_rows(const std::uint8_t* near, const std::uint8_t* far, bool below, std::size_t count,
                   std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(rows_loop)(near, far, below, count, out);
}

void upsample_both(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
                   std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(both_loop)(near, far, count, out);
}

void repeat_columns(const std::uint8_t* in, std::size_t count, std::size_t times,
                    std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < times; ++j) *out++ = in[i];
  }
}

}  // namespace echoline::jpeg
#endif
