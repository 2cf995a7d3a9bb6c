// The loops are compiled once for each kind of CPU, with Highway: not for vectors, but for shifts
// that take any register as their count (BMI2), which are in the chain from one code to the next.
#include "jpeg/mcu.h"

#include <cstring>

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

constexpr unsigned kAnomaly = 0;

// Decodes one symbol at a time, up to the end of the block: codes that are too long for the
// look-up, and the last symbols of blocks without an end-of-block code. `at` is the number of the
// last coefficient. Returns the number behind the last symbol, or kAnomaly.
template <bool kStore>
HWY_NOINLINE unsigned finish_block(const AcTable& table, BitReader& reader, unsigned at,
                                   std::int16_t* block) {
  BitReader bits = reader;
  while (at < kLastCoefficient) {
    bits.refill();
    const Codes::Found code = table.codes.find(bits.peek(16));
    if (code.length == 0 || !is_ac_symbol(code.symbol)) return kAnomaly;
    bits.skip(code.length);
    if (code.symbol == kEndOfBlock) {
      at += kBlockEnd;
      break;
    }
    const unsigned size = code.symbol & 15;
    at += code.symbol == kZeroRun ? 16U : (code.symbol >> 4) + 1U;
    if (at > kLastCoefficient) return kAnomaly;
    if constexpr (kStore) {
      block[kNaturalOrder[at]] = static_cast<std::int16_t>(extend(bits.peek(size), size));
    }
    bits.skip(size);
  }
  reader = bits;
  return at;
}

// A symbol that doesn't fit into a look-up with its value. Advances `at`; false at an anomaly.
template <bool kStore>
HWY_INLINE bool long_symbol(const AcTable& table, std::uint64_t entry, BitReader& bits,
                            unsigned& at, std::int16_t* block) {
  bits.refill();
  unsigned length = entry >> 8 & 255;
  unsigned size = entry >> 24 & 255;
  unsigned advance = entry >> 16 & 255;
  if (length == 0) {
    const Codes::Found code = table.codes.find(bits.peek(16));
    if (code.length == 0 || !is_ac_symbol(code.symbol)) return false;
    length = code.length;
    size = code.symbol & 15;
    advance = code.symbol == kEndOfBlock ? kBlockEnd
              : code.symbol == kZeroRun  ? 16U
                                         : (code.symbol >> 4) + 1U;
  }
  bits.skip(length);
  at += advance;
  if constexpr (kStore) {
    block[kNaturalOrder[at]] = static_cast<std::int16_t>(extend(bits.peek(size), size));
  }
  bits.skip(size);
  bits.refill();
  return true;
}

// The AC coefficients of a block (F.2.2.2). Returns where it ended, as finish_block does. `reader`
// has kLookupsPerRefill * kLookupBits - kLookupBits bits at least.
template <bool kStore>
HWY_INLINE unsigned decode_ac(const AcTable& table, BitReader& reader, std::int16_t* block) {
  BitReader bits = reader;
  unsigned at = 0;
  for (;;) {
    for (unsigned i = 1; i < kLookupsPerRefill; ++i) {
      const std::uint64_t entry = table.lookup[bits.window >> (64 - kLookupBits)];
      const auto length = static_cast<unsigned>(entry & 63);
      const unsigned before = at;
      if (length == 0) [[unlikely]] {
        if (!long_symbol<kStore>(table, entry, bits, at, block)) return kAnomaly;
        if (at < kLastCoefficient) break;
        if (at != kLastCoefficient && !is_block_end(at)) return kAnomaly;
        reader = bits;
        return at;
      }
      at += static_cast<unsigned>(entry >> 8 & 255);
      if constexpr (kStore) {
        const auto first = static_cast<unsigned>(entry >> 16 & 255);
        block[kNaturalOrder[before + first]] = static_cast<std::int16_t>(entry >> 32);
        block[kNaturalOrder[at]] = static_cast<std::int16_t>(entry >> 48);
      }
      if (at >= kLastCoefficient) {
        // Two symbols at once may go beyond the block: then one at a time.
        if (at != kLastCoefficient && !is_block_end(at)) [[unlikely]] {
          reader = bits;
          return finish_block<kStore>(table, reader, before, block);
        }
        bits.skip(length);
        reader = bits;
        return at;
      }
      bits.skip(length);
    }
    bits.refill();
  }
}

// The difference of a DC value (F.2.2.1). Leaves as many bits as decode_ac needs.
HWY_INLINE bool decode_dc(const DcTable& table, BitReader& bits, std::int32_t& difference) {
  bits.refill();
  const std::uint32_t entry = table.lookup[bits.window >> (64 - kLookupBits)];
  const unsigned length = entry & 63;
  if (length != 0) [[likely]] {
    difference = static_cast<std::int32_t>(entry) >> 16;
    bits.skip(length);
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
      std::memset(block, 0, kBlockSamples * sizeof *block);
      const std::int32_t dc = state.dc[planned.component] += difference;
      const unsigned end = decode_ac<true>(*planned.ac, bits, block);
      if (end == kAnomaly) return false;
      block[0] = static_cast<std::int16_t>(dc);
      batch.ac[index] = end != kBlockEnd ? 1 : 0;
    }
    if (bits.next - bits.count / 8 > state.end) return false;
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
      if (decode_ac<false>(*planned.ac, bits, nullptr) == kAnomaly) return false;
    }
    if (bits.next - bits.count / 8 > state.end) return false;
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
