// MCUs one after the other: ITU-T T.81, E.2.5.
//
// The loops are compiled once for each kind of CPU, with Highway, because of the shifts of BMI2:
// they take any register as their count, and are in the chain from one code to the next.
#include "jpeg/mcu.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/mcu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "jpeg/block_decoding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

bool decode_loop(const McuPlan& plan, EntropyState& state, std::size_t first, std::size_t count,
                 Batch& batch) {
  BitReader bits = state.bits;
  for (std::size_t i = first; i < first + count; ++i) {
    for (std::size_t b = 0; b < plan.count; ++b) {
      const McuBlock& planned = plan.blocks[b];
      const std::size_t index = planned.first + planned.blocks_per_mcu * i;
      std::int16_t* block = batch.block(index);
      std::int32_t difference = 0;
      if (!decode_dc(*planned.dc, bits, difference)) return false;
      const std::int32_t dc = state.dc[planned.component] += difference;
      unsigned end = kBlockEnd;
      if (planned.dc_only) {
        if (skip_ac(*planned.ac, bits) == kAnomaly) return false;
      } else {
        clear(block);
        end = decode_ac(*planned.ac, bits, block);
        if (end == kAnomaly) return false;
      }
      block[0] = static_cast<std::int16_t>(dc);
      batch.ac[index] = end != kBlockEnd ? 1 : 0;
    }
    if (bits.unused() > state.end) return false;
  }
  state.bits = bits;
  return true;
}

bool skip_loop(const McuPlan& plan, EntropyState& state, std::size_t count) {
  BitReader bits = state.bits;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < plan.count; ++b) {
      const McuBlock& planned = plan.blocks[b];
      std::int32_t difference = 0;
      if (!decode_dc(*planned.dc, bits, difference)) return false;
      state.dc[planned.component] += difference;
      if (skip_ac(*planned.ac, bits) == kAnomaly) return false;
    }
    if (bits.unused() > state.end) return false;
  }
  state.bits = bits;
  return true;
}

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(decode_loop);
HWY_EXPORT(skip_loop);

bool decode_mcus(const McuPlan& plan, EntropyState& state, std::size_t first, std::size_t count,
                 Batch& batch) {
  return HWY_DYNAMIC_DISPATCH(decode_loop)(plan, state, first, count, batch);
}

bool skip_mcus(const McuPlan& plan, EntropyState& state, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(skip_loop)(plan, state, count);
}

}  // namespace echoline::jpeg
#endif
