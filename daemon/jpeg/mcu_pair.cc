// MCUs at two places of a scan in turns: ITU-T T.81, E.2.5. Compiled once for each kind of CPU, as
// jpeg/mcu.cc is.
#include "jpeg/mcu.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/mcu_pair.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "jpeg/block_decoding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

// One of two streams of bits that are decoded in one loop, look-up by look-up: while one waits for
// its table, the other goes on.
struct Lane {
  BitReader bits;
  EntropyState* state = nullptr;
  Batch* batch = nullptr;
  std::size_t mcu = 0;
  std::size_t number = 0;  // of the block in the MCU
  std::int16_t* block = nullptr;
  const AcTable* ac = nullptr;
  unsigned at = 0;  // the last coefficient
};

enum class Progress : std::uint8_t { kMore, kDone, kBad };

// After it, the bits are those that decode_ac needs.
HWY_INLINE Progress begin_block(const McuPlan& plan, Lane& lane) {
  const McuBlock& planned = plan.blocks[lane.number];
  std::int32_t difference = 0;
  if (!decode_dc(*planned.dc, lane.bits, difference)) return Progress::kBad;
  lane.block = lane.batch->block(planned.first + planned.blocks_per_mcu * lane.mcu);
  lane.ac = planned.ac;
  lane.at = 0;
  clear(lane.block);
  const std::int32_t dc = lane.state->dc[planned.component] += difference;
  lane.block[0] = static_cast<std::int16_t>(dc);
  return Progress::kMore;
}

// `end` is the number of the last symbol, or kAnomaly.
HWY_INLINE Progress end_block(const McuPlan& plan, Lane& lane, unsigned end, std::size_t count) {
  if (end == kAnomaly) return Progress::kBad;
  const McuBlock& planned = plan.blocks[lane.number];
  lane.batch->ac[planned.first + planned.blocks_per_mcu * lane.mcu] = end != kBlockEnd ? 1 : 0;
  if (++lane.number == plan.count) {
    if (lane.bits.unused() > lane.state->end) return Progress::kBad;
    lane.number = 0;
    if (++lane.mcu == count) return Progress::kDone;
  }
  return begin_block(plan, lane);
}

// As decode_ac. Leaves as many bits as one look-up less needs.
HWY_INLINE Progress look_up(const McuPlan& plan, Lane& lane, std::size_t count) {
  const AcPair pair = lane.ac->pairs[lane.bits.peek(kLookupBits)];
  const unsigned last = store_pair(pair, lane.at, lane.block);
  if (last < kLastCoefficient) {
    lane.at = last;
    lane.bits.skip(pair.bits);
    return Progress::kMore;
  }
  BitReader bits = lane.bits;
  unsigned end = kAnomaly;
  if (pair.is_long()) [[unlikely]] {
    lane.block[kNaturalOrder[lane.at + pair.first_advance()]] = 0;
    const bool good = take_symbol<true>(*lane.ac, bits, lane.at, lane.block, pair.found());
    bits.refill();
    if (good && lane.at < kLastCoefficient) {
      lane.bits = bits;
      return Progress::kMore;
    }
    if (good && (lane.at == kLastCoefficient || is_block_end(lane.at))) end = lane.at;
  } else {
    end = end_with_pair(*lane.ac, pair, bits, lane.at, last, lane.block);
  }
  lane.bits = bits;
  return end_block(plan, lane, end, count);
}

// Decodes what is left of a lane after `done`. Takes a copy: a lane with an address would not be
// kept in registers.
HWY_NOINLINE bool finish_lane(const McuPlan& plan, Lane lane, Progress done, std::size_t count) {
  while (done == Progress::kMore) {
    lane.bits.refill();
    for (unsigned i = 0; i < kPairsPerRefill && done == Progress::kMore; ++i) {
      done = look_up(plan, lane, count);
    }
  }
  lane.state->bits = lane.bits;
  return done == Progress::kDone;
}

bool decode_two_loop(const McuPlan& plan, std::array<EntropyState*, 2> states, std::size_t count,
                     std::array<Batch, 2>& batches) {
  Lane one{.bits = states[0]->bits, .state = states[0], .batch = &batches[0]};
  Lane other{.bits = states[1]->bits, .state = states[1], .batch = &batches[1]};
  Progress done = begin_block(plan, one);
  Progress other_done = begin_block(plan, other);
  while (done == Progress::kMore && other_done == Progress::kMore) {
    one.bits.refill();
    other.bits.refill();
    for (unsigned i = 0; i < kPairsPerRefill; ++i) {
      done = look_up(plan, one, count);
      other_done = look_up(plan, other, count);
      if (done != Progress::kMore || other_done != Progress::kMore) break;
    }
  }
  return finish_lane(plan, one, done, count) && finish_lane(plan, other, other_done, count);
}

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echoline::jpeg {

HWY_EXPORT(decode_two_loop);

bool decode_two_mcus(const McuPlan& plan, std::array<EntropyState*, 2> states, std::size_t count,
                     std::array<Batch, 2>& batches) {
  return HWY_DYNAMIC_DISPATCH(decode_two_loop)(plan, states, count, batches);
}

}  // namespace echoline::jpeg
#endif
