// The symbols of the Huffman codes: ITU-T T.81, F.1.2.
#pragma once

#include <cstdint>

namespace echoline::jpeg {

// AC symbols are a run of zero coefficients (high half) and the bits of the value after it.
inline constexpr std::uint8_t kEndOfBlock = 0x00;
inline constexpr std::uint8_t kZeroRun = 0xF0;  // 16 zeros, no value

inline constexpr unsigned kDcSizeMax = 11;  // bits of a value in 8-bit pictures
inline constexpr unsigned kAcSizeMax = 10;

// What 8-bit pictures can have. libjpeg accepts more; such files are left to it.
constexpr bool is_ac_symbol(std::uint8_t symbol) {
  const unsigned size = symbol & 15U;
  return size == 0 ? symbol == kEndOfBlock || symbol == kZeroRun : size <= kAcSizeMax;
}

// By how many coefficients a symbol goes on. The end of block goes beyond every coefficient, which
// tells it from a run that is too long.
inline constexpr unsigned kBlockEnd = 128;
constexpr unsigned advance_of(std::uint8_t symbol) {
  if (symbol == kEndOfBlock) return kBlockEnd;
  return symbol == kZeroRun ? 16U : (symbol >> 4) + 1U;
}

// The end of a block, told from a run that is too long: either an end of block, with its last
// coefficient before number 63, or a coefficient with just that number.
inline constexpr unsigned kLastCoefficient = 63;
inline bool is_block_end(unsigned at) { return at - kBlockEnd < kLastCoefficient; }

// The value of `size` bits (F.2.2.1, EXTEND): numbers without a leading one are negative.
constexpr std::int32_t extend(std::uint32_t bits, unsigned size) {
  if (size == 0) return 0;
  const auto value = static_cast<std::int32_t>(bits);
  return value < (1 << (size - 1)) ? value - (1 << size) + 1 : value;
}

}  // namespace echoline::jpeg
