// Look-ups of Huffman tables, compared with decoding symbol by symbol, and the segments that are
// refused.
#include <gtest/gtest.h>

#include <random>

#include "jpeg/bit_reader.h"
#include "jpeg/huffman_table.h"

namespace echoline::jpeg {
namespace {

// A segment with this many codes of each length; the symbols are given in order.
std::vector<std::uint8_t> segment_of(std::vector<std::uint8_t> counts,
                                     const std::vector<std::uint8_t>& symbols) {
  counts.resize(16);
  counts.insert(counts.end(), symbols.begin(), symbols.end());
  return counts;
}

// End of block, a run of zeros, small and large values, codes up to 16 bits.
std::vector<std::uint8_t> ac_segment() {
  return segment_of(
      {0, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 2},
      {0x01, 0x02, 0x00, 0x11, 0x03, 0x21, 0x04, 0xF0, 0x12, 0x05, 0xF1, 0x06, 0x0A, 0xE5, 0x07});
}

// What a sequence of bits begins with.
struct Expected {
  unsigned code_length = 99;  // no code
  unsigned length = 99;       // with the value
  unsigned advance = 0;
  std::int32_t value = 0;
  bool end = false;
};

Expected symbol_at(const Codes& codes, std::uint64_t bits) {
  const Codes::Found found = codes.find(static_cast<std::uint32_t>(bits >> 48));
  if (found.length == 0 || !is_ac_symbol(found.symbol)) return {};
  const unsigned size = found.symbol & 15U;
  const auto value = static_cast<std::uint32_t>(bits << found.length >> 1 >> (63 - size));
  return {found.length, found.length + size, advance_of(found.symbol), extend(value, size),
          found.symbol == kEndOfBlock};
}

// Look-ups with all that can follow them: here, random bits.
template <typename Use>
void for_each_lookup(const Use& use) {
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < kLookups; ++i) {
    use(i, std::uint64_t{i} << (64 - kLookupBits) | random() >> kLookupBits);
  }
}

TEST(HuffmanTable, PairsHoldWhatSymbolsSay) {
  AcTable table;
  ASSERT_TRUE(make_table(ac_segment(), table));
  unsigned pairs = 0;
  for_each_lookup([&](std::size_t i, std::uint64_t bits) {
    const Expected first = symbol_at(table.codes, bits);
    const AcPair pair = table.pairs[i];
    ASSERT_EQ(pair.is_long(), first.length > kLookupBits) << i;
    if (pair.is_long()) {
      const bool found = first.code_length <= kLookupBits;
      EXPECT_EQ(pair.found().length, found ? first.code_length : 0) << i;
      return;
    }
    const unsigned length = pair.bits & BitReader::kLengthMask;
    EXPECT_EQ(pair.first_value(), first.value) << i;
    EXPECT_EQ(pair.first_advance(), first.end ? 1 : first.advance) << i;
    if (first.end || length == first.length) {
      EXPECT_EQ(length, first.length) << i;
      EXPECT_EQ(pair.second_advance(), first.end ? AcPair::kEnd : 0) << i;
      EXPECT_EQ(pair.second_value(), 0) << i;
      EXPECT_EQ(pair.ends_at_once(), first.end) << i;
      return;
    }
    EXPECT_FALSE(pair.ends_at_once()) << i;
    ++pairs;
    const Expected second = symbol_at(table.codes, bits << first.length);
    EXPECT_EQ(length, first.length + second.length) << i;
    EXPECT_EQ(pair.second_advance(), second.end ? AcPair::kEnd : second.advance) << i;
    EXPECT_EQ(pair.second_value(), second.value) << i;
  });
  EXPECT_GT(pairs, kLookups / 3);
}

TEST(HuffmanTable, SkipsHoldTheFirstSymbols) {
  AcTable table;
  ASSERT_TRUE(make_table(ac_segment(), table));
  unsigned symbols = 0;
  for_each_lookup([&](std::size_t i, std::uint64_t bits) {
    const unsigned skip = table.skips[i];
    unsigned length = 0;
    unsigned advance = 0;
    while (length < skip % 64) {
      ASSERT_LT(advance, kBlockSamples) << i;  // no symbol after the end of block
      const Expected next = symbol_at(table.codes, bits << length);
      ASSERT_LE(length + next.code_length, kLookupBits) << i;
      length += next.length;
      advance += next.advance;
      ++symbols;
    }
    EXPECT_EQ(skip, length | advance << 6U) << i;
    EXPECT_TRUE(skip != 0 || table.pairs[i].is_long()) << i;
  });
  EXPECT_GT(symbols, kLookups * 3 / 2);
}

TEST(HuffmanTable, DcLookupsHoldCodeAndDifference) {
  DcTable table;
  ASSERT_TRUE(make_table(
      segment_of({0, 1, 5, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), table));
  for (std::size_t i = 0; i < kLookups; ++i) {
    const std::uint64_t bits = std::uint64_t{i} << (64 - kLookupBits);
    const Codes::Found found = table.codes.find(static_cast<std::uint32_t>(bits >> 48));
    if (found.length == 0 || found.length + found.symbol > kLookupBits) {
      EXPECT_EQ(table.lookup[i], 0) << i;
      continue;
    }
    const auto value = static_cast<std::uint32_t>(bits << found.length >> 1 >> (63 - found.symbol));
    EXPECT_EQ(table.lookup[i] & 63, found.length + found.symbol) << i;
    EXPECT_EQ(static_cast<std::int16_t>(table.lookup[i]) >> 6, extend(value, found.symbol)) << i;
  }
}

TEST(HuffmanTable, ImpossibleCodesAreRefused) {
  AcTable ac;
  DcTable dc;
  EXPECT_FALSE(make_table(segment_of({3}, {1, 2, 3}), ac));  // three codes of one bit
  EXPECT_FALSE(make_table(segment_of({2}, {1, 2}), ac));     // one of them is all ones
  EXPECT_TRUE(make_table(segment_of({1}, {1}), ac));
  EXPECT_FALSE(make_table(segment_of({1}, {16}), dc));  // no such difference
  EXPECT_TRUE(make_table(segment_of({1}, {15}), dc));   // for other precisions: never a look-up
}

TEST(HuffmanTable, TheCacheKeepsTheTablesOfAPicture) {
  TableCache<AcTable> cache;
  std::vector<const AcTable*> found;
  for (std::uint8_t symbol = 1; symbol <= 3; ++symbol) {
    found.push_back(cache.find(segment_of({1}, {symbol})));
  }
  for (std::uint8_t symbol = 1; symbol <= 3; ++symbol) {
    EXPECT_EQ(cache.find(segment_of({1}, {symbol})), found[symbol - 1U]);
    EXPECT_EQ(found[symbol - 1U]->codes.symbols[0], symbol);
  }
  EXPECT_EQ(cache.find(segment_of({3}, {1, 2, 3})), nullptr);
}

}  // namespace
}  // namespace echoline::jpeg
