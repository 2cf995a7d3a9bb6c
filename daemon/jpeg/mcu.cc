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
inline constexpr unsigned kLookupsPerRefill = BitReader::kRefilled / kLookupBits;

// The end of a block, told from a run that is too long: either an end of block, with its last
// coefficient before number 63, or a coefficient with just that number.
inline bool is_block_end(unsigned at) { return at - kBlockEnd < kLastCoefficient; }

}  // namespace echoline::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr unsigned kAnomaly = 0;

HWY_INLINE void clear(std::int16_t* block) {
  const hn::CappedTag<std::int16_t, 16> tag;
  for (std::size_t i = 0; i < kBlockSamples; i += hn::Lanes(tag)) {
    hn::StoreU(hn::Zero(tag), tag, block + i);
  }
}

// One AC symbol.
struct Symbol {
  unsigned length = 0;  // of its code
  unsigned advance = 0;
  unsigned size = 0;  // of its value
};

// False if the next bits are no code, or none that is allowed.
HWY_INLINE bool find_symbol(const AcTable& table, const BitReader& bits, Symbol& symbol) {
  const Codes::Found code = table.codes.find(bits.peek(16));
  if (code.length == 0 || !is_ac_symbol(code.symbol)) return false;
  symbol = {code.length, advance_of(code.symbol), code.symbol & 15U};
  return true;
}

// Takes a symbol and its value. 16 + kAcSizeMax bits must be there.
template <bool kStore>
HWY_INLINE void take_symbol(const Symbol& symbol, BitReader& bits, unsigned& at,
                            std::int16_t* block) {
  bits.skip(symbol.length);
  at += symbol.advance;
  if constexpr (kStore) {
    const std::int32_t value = extend(bits.peek(symbol.size), symbol.size);
    block[kNaturalOrder[at]] = static_cast<std::int16_t>(value);
  }
  bits.skip(symbol.size);
}

// Decodes one symbol at a time, up to the end of the block: for the last symbols of blocks that
// have no end-of-block code. `at` is the number of the last coefficient. Returns that of the last
// symbol, or kAnomaly.
template <bool kStore>
HWY_NOINLINE unsigned finish_block(const AcTable& table, BitReader& bits, unsigned at,
                                   std::int16_t* block) {
  while (at < kLastCoefficient) {
    Symbol symbol;
    bits.refill();
    if (!find_symbol(table, bits, symbol)) return kAnomaly;
    take_symbol<kStore>(symbol, bits, at, block);
  }
  return at == kLastCoefficient || is_block_end(at) ? at : kAnomaly;
}

// A symbol that a look-up doesn't hold with its value.
template <bool kStore>
HWY_INLINE bool long_symbol(const AcTable& table, BitReader& bits, unsigned& at,
                            std::int16_t* block) {
  bits.refill();
  const AcPair entry = table.pairs[bits.window >> (64 - kLookupBits)];
  Symbol symbol{entry.code_length(), advance_of(entry.symbol()), entry.symbol() & 15U};
  if (symbol.length == 0 && !find_symbol(table, bits, symbol)) return false;
  take_symbol<kStore>(symbol, bits, at, block);
  return true;
}

// The AC coefficients of a block (F.2.2.2). Returns the number of the last symbol, as finish_block
// does: kBlockEnd if there is no coefficient. (kLookupsPerRefill - 1) * kLookupBits bits are there.
HWY_INLINE unsigned decode_ac(const AcTable& table, BitReader& reader, std::int16_t* block) {
  BitReader bits = reader;
  unsigned at = 0;
  for (;;) {
    for (unsigned i = 1; i < kLookupsPerRefill; ++i) {
      const AcPair entry = table.pairs[bits.window >> (64 - kLookupBits)];
      if (entry.is_long()) [[unlikely]] {
        if (!long_symbol<true>(table, bits, at, block)) return kAnomaly;
        if (at < kLastCoefficient) break;
        reader = bits;
        return at == kLastCoefficient || is_block_end(at) ? at : kAnomaly;
      }
      const unsigned first = at + entry.first_advance();
      const unsigned second = first + entry.second_advance();
      const auto value = static_cast<std::int16_t>(entry.first_value());
      // With one symbol, the second value is 0 and the place is the first's: so that is stored
      // last.
      block[kNaturalOrder[second]] = static_cast<std::int16_t>(entry.second_value());
      block[kNaturalOrder[first]] = value;
      const unsigned last = second + entry.block_end();
      if (last >= kLastCoefficient) {
        reader = bits;
        // An end of block alone counted as a coefficient.
        const unsigned end = value == 0 && last >= kBlockEnd ? last - 1 : last;
        // Two symbols at once may go beyond the block: then one at a time.
        if (end != kLastCoefficient && !is_block_end(end)) [[unlikely]] {
          return finish_block<true>(table, reader, at, block);
        }
        reader.skip(entry.bits);
        return end;
      }
      at = last;
      bits.skip(entry.bits);
    }
    bits.refill();
  }
}

// The same, but keeps nothing.
HWY_INLINE unsigned skip_ac(const AcTable& table, BitReader& reader) {
  BitReader bits = reader;
  unsigned at = 0;
  for (;;) {
    for (unsigned i = 1; i < kLookupsPerRefill; ++i) {
      const std::uint32_t entry = table.skips[bits.window >> (64 - kLookupBits)];
      if (entry == 0) [[unlikely]] {
        if (!long_symbol<false>(table, bits, at, nullptr)) return kAnomaly;
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
      const std::size_t index = planned.first + planned.step * i;
      std::int16_t* block = batch.block(index);
      std::int32_t difference = 0;
      if (!decode_dc(*planned.dc, bits, difference)) return false;
      clear(block);
      const std::int32_t dc = state.dc[planned.component] += difference;
      const unsigned end = decode_ac(*planned.ac, bits, block);
      if (end == kAnomaly) return false;
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

enum class Step : std::uint8_t { kMore, kDone, kBad };

// After it, the bits are those that decode_ac needs.
HWY_INLINE Step begin_block(const McuPlan& plan, Lane& lane) {
  const McuBlock& planned = plan.blocks[lane.number];
  std::int32_t difference = 0;
  if (!decode_dc(*planned.dc, lane.bits, difference)) return Step::kBad;
  lane.block = lane.batch->block(planned.first + planned.step * lane.mcu);
  lane.ac = planned.ac;
  lane.at = 0;
  clear(lane.block);
  const std::int32_t dc = lane.state->dc[planned.component] += difference;
  lane.block[0] = static_cast<std::int16_t>(dc);
  return Step::kMore;
}

// `end` is the number of the last symbol, or kAnomaly.
HWY_INLINE Step end_block(const McuPlan& plan, Lane& lane, unsigned end, std::size_t count) {
  if (end == kAnomaly) return Step::kBad;
  const McuBlock& planned = plan.blocks[lane.number];
  lane.batch->ac[planned.first + planned.step * lane.mcu] = end != kBlockEnd ? 1 : 0;
  if (++lane.number == plan.count) {
    if (lane.bits.unused() > lane.state->end) return Step::kBad;
    lane.number = 0;
    if (++lane.mcu == count) return Step::kDone;
  }
  return begin_block(plan, lane);
}

// As decode_ac. Leaves as many bits as one look-up less needs.
HWY_INLINE Step step(const McuPlan& plan, Lane& lane, std::size_t count) {
  const AcPair entry = lane.ac->pairs[lane.bits.window >> (64 - kLookupBits)];
  if (entry.is_long()) [[unlikely]] {
    if (!long_symbol<true>(*lane.ac, lane.bits, lane.at, lane.block)) return Step::kBad;
    lane.bits.refill();
    if (lane.at < kLastCoefficient) return Step::kMore;
    const bool good = lane.at == kLastCoefficient || is_block_end(lane.at);
    return end_block(plan, lane, good ? lane.at : kAnomaly, count);
  }
  const unsigned first = lane.at + entry.first_advance();
  const unsigned second = first + entry.second_advance();
  const auto value = static_cast<std::int16_t>(entry.first_value());
  lane.block[kNaturalOrder[second]] = static_cast<std::int16_t>(entry.second_value());
  lane.block[kNaturalOrder[first]] = value;
  const unsigned last = second + entry.block_end();
  if (last < kLastCoefficient) {
    lane.at = last;
    lane.bits.skip(entry.bits);
    return Step::kMore;
  }
  unsigned end = value == 0 && last >= kBlockEnd ? last - 1 : last;
  if (end != kLastCoefficient && !is_block_end(end)) [[unlikely]] {
    BitReader bits = lane.bits;
    end = finish_block<true>(*lane.ac, bits, lane.at, lane.block);
    lane.bits = bits;
  } else {
    lane.bits.skip(entry.bits);
  }
  return end_block(plan, lane, end, count);
}

HWY_NOINLINE bool finish_lane(const McuPlan& plan, Lane& lane, std::size_t count) {
  Step done = Step::kMore;
  while (done == Step::kMore) {
    lane.bits.refill();
    for (unsigned i = 1; i < kLookupsPerRefill && done == Step::kMore; ++i) {
      done = step(plan, lane, count);
    }
  }
  return done == Step::kDone;
}

bool decode_two_loop(const McuPlan& plan, std::array<EntropyState*, 2> states, std::size_t count,
                     std::array<Batch, 2>& batches) {
  Lane one{.bits = states[0]->bits, .state = states[0], .batch = &batches[0]};
  Lane other{.bits = states[1]->bits, .state = states[1], .batch = &batches[1]};
  Step done = begin_block(plan, one);
  Step other_done = begin_block(plan, other);
  while (done == Step::kMore && other_done == Step::kMore) {
    one.bits.refill();
    other.bits.refill();
    for (unsigned i = 1; i < kLookupsPerRefill; ++i) {
      done = step(plan, one, count);
      other_done = step(plan, other, count);
      if (done != Step::kMore || other_done != Step::kMore) break;
    }
  }
  if (done == Step::kMore && !finish_lane(plan, one, count)) return false;
  if (other_done == Step::kMore && !finish_lane(plan, other, count)) return false;
  states[0]->bits = one.bits;
  states[1]->bits = other.bits;
  return done != Step::kBad && other_done != Step::kBad;
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
