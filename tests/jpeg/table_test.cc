// Look-ups of Huffman tables, compared with decoding symbol by symbol, and the segments that are
// refused.
#include <gtest/gtest.h>

#include <random>

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

// What a sequence of symbols in `bits`, the next 32 of the data, begins with.
struct Expected {
  unsigned length = 0;
  unsigned advance = 0;
  std::int32_t value = 0;
  bool end = false;
};

Expected symbol_at(const Codes& codes, std::uint64_t bits) {
  const Codes::Found found = codes.find(static_cast<std::uint32_t>(bits >> 48));
  const unsigned size = found.symbol & 15U;
  const std::uint64_t rest = bits << found.length;
  const auto value = static_cast<std::uint32_t>(rest >> 1 >> (63 - size));
  return {found.length == 0 ? 99 : found.length + size, advance_of(found.symbol),
          extend(value, size), found.symbol == kEndOfBlock};
}

TEST(HuffmanTable, LookupsHoldWhatSymbolsSay) {
  AcTable table;
  ASSERT_TRUE(make_table(ac_segment(), table));
  unsigned pairs = 0;
  for (std::size_t i = 0; i < kLookups; ++i) {
    const std::uint64_t bits = std::uint64_t{i} << (64 - kLookupBits);
    const Expected first = symbol_at(table.codes, bits);
    const AcPair pair = table.pairs[i];
    if (first.length > kLookupBits) {
      EXPECT_TRUE(pair.is_long()) << i;
      EXPECT_EQ(table.skips[i], 0) << i;
      continue;
    }
    ASSERT_FALSE(pair.is_long()) << i;
    const unsigned length = pair.bits & 63;
    EXPECT_EQ(pair.first_value(), first.value) << i;
    EXPECT_EQ(pair.first_advance(), first.end ? 1 : first.advance) << i;
    if (first.end || length == first.length) {
      EXPECT_EQ(length, first.length) << i;
      EXPECT_EQ(pair.second_advance(), 0U) << i;
      EXPECT_EQ(pair.block_end(), first.end ? kBlockEnd : 0) << i;
      continue;
    }
    ++pairs;
    const Expected second = symbol_at(table.codes, bits << first.length);
    EXPECT_EQ(length, first.length + second.length) << i;
    EXPECT_EQ(pair.block_end(), second.end ? kBlockEnd : 0) << i;
    EXPECT_EQ(pair.second_advance(), second.end ? 0 : second.advance) << i;
    EXPECT_EQ(pair.second_value(), second.value) << i;
    EXPECT_EQ(table.skips[i] & 63U, length) << i;
    EXPECT_EQ(table.skips[i] >> 6U, first.advance + second.advance) << i;
  }
  EXPECT_GT(pairs, kLookups / 3);
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
