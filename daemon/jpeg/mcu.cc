// The loops are compiled once for each kind of CPU, with Highway, because of the shifts of BMI2:
// they take any register as their count, and are in the chain from one code to the next.
#include "jpeg/mcu.h"

#include "jpeg/entropy_codes.h"
#include "jpeg/zigzag.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jpeg/mcu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef ECHOLINE_JPEG_MCU_ONCE
#define ECHOLINE_JPEG_MCU_ONCE
namespace echoline::jpeg {

inline constexpr unsigned kLastCoefficient = 63;
// So many look-ups of AC symbols fit after a refill, also after that of a DC difference.
inline constexpr unsigned kPairsPerRefill = (BitReader::kRefilled - kLookupBits) / kLookupBits;
inline constexpr unsigned kSkipsPerRefill = (BitReader::kRefilled - kLookupBits) / kSkipBitsMax;

// The end of a block, told from a run that is too long: either an end of block, with its last
// coefficient before number 63, or a coefficient with just that number.
inline bool is_block_end(unsigned at) { return at - kBlockEnd < kLastCoefficient; }

}  // namespace echoline::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr unsigned kAnomaly = 0;  // the last symbol of a block has a number from 63 on

HWY_INLINE void clear(std::int16_t* block) {
  const hn::CappedTag<std::int16_t, 16> tag;
  for (std::size_t i = 0; i < kBlockSamples; i += hn::Lanes(tag)) {
    hn::StoreU(hn::Zero(tag), tag, block + i);
  }
}

// Takes one AC symbol and its value. `code` may be known from a look-up. False if the next bits are
// no code, or none that is allowed.
template <bool kStore>
HWY_INLINE bool take_symbol(const AcTable& table, BitReader& bits, unsigned& at,
                            std::int16_t* block, Codes::Found code = {}) {
  bits.refill();
  if (code.length == 0) {
    code = table.codes.find(bits.peek(16));
    if (code.length == 0 || !is_ac_symbol(code.symbol)) return false;
  }
  const unsigned size = code.symbol & 15U;
  bits.skip(code.length);
  at += advance_of(code.symbol);
  if constexpr (kStore) {
    block[kNaturalOrder[at]] = static_cast<std::int16_t>(extend(bits.peek(size), size));
  }
  bits.skip(size);
  return true;
}

// Decodes one symbol at a time, up to the end of the block. `at` is the number of the last
// coefficient. Returns that of the last symbol, or kAnomaly.
template <bool kStore>
HWY_NOINLINE unsigned finish_slowly(const AcTable& table, BitReader& bits, unsigned at,
                                    std::int16_t* block) {
  while (at < kLastCoefficient) {
    if (!take_symbol<kStore>(table, bits, at, block)) return kAnomaly;
  }
  return at == kLastCoefficient || is_block_end(at) ? at : kAnomaly;
}

// The same. Only a copy of the reader has an address, so that compilers keep it in registers.
template <bool kStore>
HWY_INLINE unsigned finish_block(const AcTable& table, BitReader& bits, unsigned at,
                                 std::int16_t* block) {
  BitReader copy = bits;
  const unsigned end = finish_slowly<kStore>(table, copy, at, block);
  bits = copy;
  return end;
}

// Stores the values of a pair after coefficient `at`. Returns the number of the last one: at least
// kLastCoefficient if the block ends here, or may end, or the pair is long.
HWY_INLINE unsigned store_pair(AcPair pair, unsigned at, std::int16_t* block) {
  const unsigned first = at + pair.first_advance();
  const unsigned second = first + pair.second_advance();
  // With one symbol, the second value is 0 and the place is the first's: so that is stored last.
  block[kNaturalOrder[second]] = static_cast<std::int16_t>(pair.second_value());
  block[kNaturalOrder[first]] = static_cast<std::int16_t>(pair.first_value());
  return second;
}

// The end of a block with a pair that is not long, after coefficient `at`, as far as `last`.
// Returns the number of the last symbol, as finish_block does.
HWY_INLINE unsigned end_with_pair(const AcTable& table, AcPair pair, BitReader& bits, unsigned at,
                                  unsigned last, std::int16_t* block) {
  unsigned end = last;
  // An end of block is stored as an advance of kEnd, after 1 if it comes first; symbols have
  // kBlockEnd.
  if (pair.ends()) end += kBlockEnd - AcPair::kEnd - (pair.ends_at_once() ? 1 : 0);
  // Two symbols at once may go beyond the block: then one at a time.
  if (end != kLastCoefficient && !is_block_end(end)) [[unlikely]] {
    return finish_block<true>(table, bits, at, block);
  }
  bits.skip(pair.bits);
  return end;
}

// The AC coefficients of a block (F.2.2.2). Returns the number of the last symbol, as finish_block
// does: kBlockEnd if there is no coefficient. The reader has bits for kPairsPerRefill look-ups.
HWY_INLINE unsigned decode_ac(const AcTable& table, BitReader& reader, std::int16_t* block) {
  BitReader bits = reader;
  unsigned at = 0;
  for (;;) {
    for (unsigned i = 0; i < kPairsPerRefill; ++i) {
      const AcPair pair = table.pairs[bits.window >> (64 - kLookupBits)];
      const unsigned last = store_pair(pair, at, block);
      if (last >= kLastCoefficient) {
        if (pair.is_long()) [[unlikely]] {
          block[kNaturalOrder[at + pair.first_advance()]] = 0;
          if (!take_symbol<true>(table, bits, at, block, pair.found())) return kAnomaly;
          if (at < kLastCoefficient) break;
          reader = bits;
          return at == kLastCoefficient || is_block_end(at) ? at : kAnomaly;
        }
        reader = bits;
        return end_with_pair(table, pair, reader, at, last, block);
      }
      at = last;
      bits.skip(pair.bits);
    }
    bits.refill();
  }
}

// The same, but keeps nothing.
HWY_INLINE unsigned skip_ac(const AcTable& table, BitReader& reader) {
  BitReader bits = reader;
  unsigned at = 0;
  for (;;) {
    for (unsigned i = 0; i < kSkipsPerRefill; ++i) {
      const std::uint32_t entry = table.skips[bits.window >> (64 - kLookupBits)];
      if (entry == 0) [[unlikely]] {
        if (!take_symbol<false>(table, bits, at, nullptr)) return kAnomaly;
        if (at < kLastCoefficient) break;
        reader = bits;
        return at == kLastCoefficient || is_block_end(at) ? at : kAnomaly;
      }
      const unsigned last = at + (entry >> 6);
      if (last >= kLastCoefficient) {
        reader = bits;
        if (last != kLastCoefficient && !is_block_end(last)) [[unlikely]] {
          return finish_block<false>(table, reader, at, nullptr);
        }
        reader.skip(entry);
        return last;
      }
      at = last;
      bits.skip(entry);
    }
    bits.refill();
  }
}

// The difference of a DC value (F.2.2.1). Leaves as many bits as decode_ac needs.
HWY_INLINE bool decode_dc(const DcTable& table, BitReader& bits, std::int32_t& difference) {
  bits.refill();
  const std::uint32_t entry = table.lookup[bits.window >> (64 - kLookupBits)];
  if (entry != 0) [[likely]] {
    difference = static_cast<std::int16_t>(entry) >> 6;
    bits.skip(entry);
    return true;
  }
  const Codes::Found code = table.codes.find(bits.peek(16));
  if (code.length == 0 || code.symbol > kDcSizeMax) return false;
  bits.skip(code.length);
  difference = extend(bits.peek(code.symbol), code.symbol);
  bits.skip(code.symbol);
  bits.refill();
  return true;
}

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
  const AcPair pair = lane.ac->pairs[lane.bits.window >> (64 - kLookupBits)];
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
HWY_EXPORT(decode_two_loop);
HWY_EXPORT(skip_loop);

bool decode_mcus(const McuPlan& plan, EntropyState& state, std::size_t first, std::size_t count,
                 Batch& batch) {
  return HWY_DYNAMIC_DISPATCH(decode_loop)(plan, state, first, count, batch);
}

bool decode_two_mcus(const McuPlan& plan, std::array<EntropyState*, 2> states, std::size_t count,
                     std::array<Batch, 2>& batches) {
  return HWY_DYNAMIC_DISPATCH(decode_two_loop)(plan, states, count, batches);
}

bool skip_mcus(const McuPlan& plan, EntropyState& state, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(skip_loop)(plan, state, count);
}

}  // namespace echoline::jpeg
#endif
