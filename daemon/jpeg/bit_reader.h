// Bits of a scan, most significant first: ITU-T T.81, F.2.2.5, on bytes without stuffing.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace echoline::jpeg {

// The next bits are the high ones of `buffer`: `count()` of them, and then already some of the
// bytes at `next`. Nothing is checked here: the bytes must go on for 8 beyond what is read.
struct BitReader {
  static constexpr unsigned kRefilled = 56;  // at least so many bits after `refill`
  static constexpr unsigned kLengthMask = 63;

  const std::uint8_t* next = nullptr;
  std::uint64_t buffer = 0;
  unsigned low_count = 0;  // the count in its low 6 bits, anything above

  unsigned count() const { return low_count & kLengthMask; }
  void refill() {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, next, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    const unsigned left = count();
    buffer |= bytes >> left;
    next += (63 - left) >> 3;
    low_count = left | kRefilled;
  }
  // Goes on by the low 6 bits of `entry`. Processors ignore the others when they shift, so that
  // masking costs nothing here; and every cycle from one code to the next counts.
  void skip(std::uint32_t entry) {
    buffer <<= entry & kLengthMask;
    low_count -= entry;
  }
  // 0 bits give 0.
  std::uint32_t peek(unsigned bits) const {
    return static_cast<std::uint32_t>(buffer >> 1 >> (63 - bits));
  }
  // The first byte of which no bit is used up.
  const std::uint8_t* unused() const { return next - count() / 8; }
  // Bits from `begin` to the next one.
  std::uint64_t bits_after(const std::uint8_t* begin) const {
    return static_cast<std::uint64_t>(next - begin) * 8 - count();
  }
};

// The reader of what follows after `bits` bits, at most 7.
inline BitReader bits_from(const std::uint8_t* byte, unsigned bits = 0) {
  BitReader reader;
  reader.next = byte;
  reader.refill();
  reader.skip(bits);
  return reader;
}

}  // namespace echoline::jpeg
