// Huffman tables for decoding: ITU-T T.81, Annex C (codes) and F.2.2 (their use), as look-up
// tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jpeg/entropy_codes.h"
#include "jpeg/markers.h"

namespace echoline::jpeg {

inline constexpr unsigned kLookupBits = 11;
inline constexpr std::size_t kLookups = std::size_t{1} << kLookupBits;

// The codes, in the form of F.2.2.3, for those that a look-up does not hold.
struct Codes {
  static constexpr unsigned kLengthMax = 16;

  std::array<std::uint32_t, kLengthMax + 1> limit{};  // codes of a length, as 16 bits, are below it
  std::array<std::int32_t, kLengthMax + 1> offset{};  // from a code to its symbol
  std::array<std::uint8_t, 256> symbols{};

  struct Found {
    unsigned length = 0;  // 0: no such code
    std::uint8_t symbol = 0;
  };
  // The code that the 16 `bits` begin with.
  Found find(std::uint32_t bits) const {
    for (unsigned length = 1; length <= kLengthMax; ++length) {
      if (bits >= limit[length]) continue;
      const auto code = static_cast<std::int32_t>(bits >> (kLengthMax - length));
      return {length, symbols[static_cast<std::size_t>(code + offset[length]) & 255]};
    }
    return {};
  }
};

// Look-ups by the next kLookupBits. They are small, because all of them are in use at once: the
// bits of a good code are random. In all of them, bits 0 to 5 are the length of what the look-up
// holds. What doesn't fit has a value of its own, not the length 0: the length must have no other
// use than to shift, or compilers add an instruction to the chain from code to code.

// Bits 6 to 15: a difference of DC values. 0: it doesn't fit.
struct DcTable {
  std::array<std::uint16_t, kLookups> lookup;
  Codes codes;
};

// One symbol with its value, or two, as far as they fit, in these bits:
//    0 to  5  length of all that the look-up holds
//    6 to 11  by how many coefficients the second symbol goes on; kEnd: it is the end of block
//   12 to 15  the same of the first symbol, less 1
//   16 to 21  value of the second symbol, signed
//   22 to 31  value of the first symbol, signed
// If not even one symbol fits, the length is 0, and
//   16 to 19  length of its code, 20 to 27 the symbol; 0: the code does not fit either.
struct AcPair {
  // As advance of the second symbol: it is the end of block.
  static constexpr unsigned kEnd = 63;
  static constexpr std::uint32_t kEndBits = kEnd << 6;

  std::uint32_t bits = kEndBits;

  // Not even one symbol fits. The second advance is kEnd, so that one branch finds this and the end
  // of a block.
  bool is_long() const { return (bits & 63) == 0; }
  // By how many coefficients the first symbol goes on. An end of block that comes first counts as
  // one coefficient with the value 0.
  unsigned first_advance() const { return (bits >> 12 & 15) + 1; }
  unsigned second_advance() const { return bits >> 6 & 63; }  // 0: no second symbol
  int second_value() const { return static_cast<std::int32_t>(bits << 10) >> 26; }
  int first_value() const { return static_cast<std::int32_t>(bits) >> 22; }

  // The last symbol is the end of block; the only one is.
  bool ends() const { return (bits & kEndBits) == kEndBits; }
  bool ends_at_once() const { return bits >> 22 == 0 && ends(); }
  // If the pair is long: its code, as far as that fits. Then the first value has no meaning.
  Codes::Found found() const { return {bits >> 16 & 15, static_cast<std::uint8_t>(bits >> 20)}; }
};

// Look-ups for skipping hold the symbols whose codes fit; the last value may go on beyond them, but
// not further, so that a fixed number of look-ups can follow a refill.
inline constexpr unsigned kSkipBitsMax = 15;

struct AcTable {
  std::array<AcPair, kLookups> pairs;
  // For skipping. Bits 6 to 15: the advance of all symbols together, and kBlockEnd if the last one
  // is the end of block. 0: no symbol.
  std::array<std::uint16_t, kLookups> skips;
  Codes codes;
};

// False if the segment's codes are not possible (C.2) or, for DC, a symbol is not.
bool make_table(Bytes segment, DcTable& table);
bool make_table(Bytes segment, AcTable& table);

// Keeps tables from picture to picture: many have the same.
template <typename Table>
class TableCache {
 public:
  // The table of a segment; null if it is not possible. Valid until kEntries - 1 other tables were
  // asked for: a picture has at most three.
  const Table* find(Bytes segment);

 private:
  struct Entry {
    std::vector<std::uint8_t> segment;  // empty: no table
    std::uint64_t used = 0;             // the time of its last use
    Table table;
  };
  static constexpr std::size_t kEntries = 4;

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
  std::uint64_t clock_ = 0;
};

extern template class TableCache<DcTable>;
extern template class TableCache<AcTable>;

}  // namespace echoline::jpeg
