// The coefficients of one block, by look-ups: ITU-T T.81, F.2.2.1 (DC) and F.2.2.2 (AC).
#if defined(ECHOLINE_JPEG_BLOCK_DECODING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHOLINE_JPEG_BLOCK_DECODING_INL
#undef ECHOLINE_JPEG_BLOCK_DECODING_INL
#else
#define ECHOLINE_JPEG_BLOCK_DECODING_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "jpeg/ac_symbols-inl.h"
#include "jpeg/bit_reader.h"
#include "jpeg/entropy_codes.h"
#include "jpeg/huffman_table.h"
#include "jpeg/zigzag.h"

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// So many look-ups of AC symbols fit after a refill, also after that of a DC difference.
constexpr unsigned kPairsPerRefill = (BitReader::kRefilled - kLookupBits) / kLookupBits;
constexpr unsigned kSkipsPerRefill = (BitReader::kRefilled - kLookupBits) / kSkipBitsMax;

HWY_INLINE void clear(std::int16_t* block) {
  const hn::CappedTag<std::int16_t, 16> tag;
  for (std::size_t i = 0; i < kBlockSamples; i += hn::Lanes(tag)) {
    hn::StoreU(hn::Zero(tag), tag, block + i);
  }
}

// The difference of a DC value (F.2.2.1). Leaves as many bits as decode_ac needs.
HWY_INLINE bool decode_dc(const DcTable& table, BitReader& bits, std::int32_t& difference) {
  bits.refill();
  const std::uint32_t entry = table.lookup[bits.peek(kLookupBits)];
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
      const AcPair pair = table.pairs[bits.peek(kLookupBits)];
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
      const std::uint32_t entry = table.skips[bits.peek(kLookupBits)];
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

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
