// Huffman tables for decoding: ITU-T T.81, Annex C (codes) and F.2.2 (their use), as look-up
// tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

// A difference of DC values for each kLookupBits that follow.
struct DcTable {
  // Bits 0 to 7: the length of code and value together, 0 if they don't fit. Bits 16 to 31: the
  // value.
  std::array<std::uint32_t, kLookups> lookup;
  Codes codes;
};

// One or two AC coefficients for each kLookupBits that follow.
struct AcTable {
  // Of up to two symbols, as far as they fit with their values:
  // bits 0 to 7: their length; 0 if not even one fits;
  // bits 8 to 15: by how many coefficients both advance, and kBlockEnd if one is the end of block;
  // bits 16 to 23: by how many the first one does;
  // bits 32 to 47 and 48 to 63: the values. With one symbol, both are its value.
  // If the length is 0: bits 8 to 15 are the length of the code, 0 if the code doesn't fit or is
  // not allowed; bits 16 to 23 as above; bits 24 to 31: the bits of the value.
  std::array<std::uint64_t, kLookups> lookup;
  Codes codes;
};

// An advance beyond every coefficient, which tells the end of a block from a run that is too long.
inline constexpr unsigned kBlockEnd = 128;

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
