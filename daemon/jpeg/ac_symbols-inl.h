// AC coefficients, one symbol after the other: ITU-T T.81, F.2.2.2, with the code of a symbol
// (DECODE, F.2.2.3) and the bits of its value (RECEIVE, F.2.2.4). For what the look-ups do not
// hold.
//
// Compiled once for each kind of CPU, like every "-inl.h" here, by the file that includes it.
#if defined(ECHOLINE_JPEG_AC_SYMBOLS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHOLINE_JPEG_AC_SYMBOLS_INL
#undef ECHOLINE_JPEG_AC_SYMBOLS_INL
#else
#define ECHOLINE_JPEG_AC_SYMBOLS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "jpeg/bit_reader.h"
#include "jpeg/entropy_codes.h"
#include "jpeg/huffman_table.h"
#include "jpeg/zigzag.h"

HWY_BEFORE_NAMESPACE();
namespace echoline::jpeg::HWY_NAMESPACE {

constexpr unsigned kAnomaly = 0;  // the last symbol of a block has a number from 63 on

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

}  // namespace echoline::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
