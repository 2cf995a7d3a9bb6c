#include "jpeg/huffman_table.h"

#include <algorithm>

namespace echoline::jpeg {
namespace {

// Figures C.1 and C.2: codes of one length are consecutive numbers, and none is all ones.
bool make_codes(Bytes segment, Codes& codes) {
  std::uint32_t code = 0;
  std::size_t symbols = 0;
  for (unsigned length = 1; length <= Codes::kLengthMax; ++length) {
    const std::uint32_t count = segment[length - 1];
    codes.offset[length] = static_cast<std::int32_t>(symbols) - static_cast<std::int32_t>(code);
    code += count;
    symbols += count;
    if (count != 0 && code >= std::uint32_t{1} << length) return false;
    codes.limit[length] = code << (Codes::kLengthMax - length);
    code <<= 1;
  }
  codes.symbols.fill(0);
  std::copy(segment.begin() + Codes::kLengthMax, segment.end(), codes.symbols.begin());
  return true;
}

// Calls `fill`(first look-up, code length, symbol) for each code that a look-up holds.
template <typename Fill>
void for_each_code(Bytes segment, const Fill& fill) {
  std::size_t first = 0;
  std::size_t symbol = Codes::kLengthMax;
  for (unsigned length = 1; length <= kLookupBits; ++length) {
    for (unsigned i = 0; i < segment[length - 1]; ++i, ++symbol) {
      fill(first, length, segment[symbol]);
      first += kLookups >> length;
    }
  }
}

// One AC symbol that a look-up begins with.
struct Symbol {
  std::uint8_t length = 0;  // with its value, as far as they fit
  std::uint8_t advance = 0;
  std::uint8_t code_length = 0;  // 0: not allowed, or longer than a look-up
  std::uint8_t size = 0;
  std::int16_t value = 0;
};
using Symbols = std::array<Symbol, kLookups>;

bool fits(int value, unsigned bits) {
  return value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

void fill_symbol(std::size_t first, unsigned length, std::uint8_t code, Symbols& symbols) {
  if (!is_ac_symbol(code)) return;
  const unsigned size = code & 15;
  Symbol symbol;
  symbol.advance = static_cast<std::uint8_t>(advance_of(code));
  symbol.code_length = static_cast<std::uint8_t>(length);
  symbol.size = static_cast<std::uint8_t>(size);
  const auto begin = symbols.begin() + static_cast<std::ptrdiff_t>(first);
  const std::size_t count = kLookups >> length;
  if (length + size > kLookupBits) {
    std::fill_n(begin, count, symbol);
    return;
  }
  symbol.length = static_cast<std::uint8_t>(length + size);
  const std::size_t each = count >> size;
  for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
    symbol.value = static_cast<std::int16_t>(extend(bits, size));
    std::fill_n(begin + static_cast<std::ptrdiff_t>(bits * each), each, symbol);
  }
}

AcPair pair_of(const Symbols& symbols, std::size_t at) {
  const Symbol& first = symbols[at];
  if (first.length == 0 || !fits(first.value, 10)) {
    return {first.advance << 6 | std::uint32_t{first.code_length} << 11 |
            std::uint32_t{first.size} << 16};
  }
  constexpr std::uint32_t kEnd = 1U << 15;
  if (first.advance == kBlockEnd) return {first.length | 1U << 6 | kEnd};
  const std::uint32_t alone = first.length | std::uint32_t{first.advance} << 6 |
                              static_cast<std::uint32_t>(first.value) << 22;
  const Symbol& second = symbols[at << first.length & (kLookups - 1)];
  const unsigned length = first.length + second.length;
  // A zero run alone, so that a first value of 0 always means an end of block.
  if (second.length == 0 || length > kLookupBits || first.value == 0) return {alone};
  if (second.advance == kBlockEnd) return {alone + second.length + kEnd};
  if (second.advance > 15 || !fits(second.value, 6)) return {alone};
  return {alone + second.length + (std::uint32_t{second.advance} << 11) +
          (static_cast<std::uint32_t>(second.value) << 26 >> 10)};
}

std::uint16_t skip_of(const Symbols& symbols, std::size_t at) {
  unsigned length = 0;
  unsigned advance = 0;
  while (advance < kBlockEnd) {
    const Symbol& next = symbols[at << length & (kLookups - 1)];
    if (next.length == 0 || length + next.length > kLookupBits) break;
    length += next.length;
    advance += next.advance;
  }
  return static_cast<std::uint16_t>(length | advance << 6);
}

}  // namespace

bool make_table(Bytes segment, DcTable& table) {
  if (!make_codes(segment, table.codes)) return false;
  const Bytes symbols = segment.subspan(Codes::kLengthMax);
  if (std::any_of(symbols.begin(), symbols.end(), [](unsigned size) { return size > 15; })) {
    return false;
  }
  table.lookup.fill(0);
  for_each_code(segment, [&](std::size_t first, unsigned length, std::uint8_t size) {
    if (length + size > kLookupBits || size > 9) return;  // values have 10 bits
    const std::size_t each = kLookups >> (length + size);
    for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
      const auto value = static_cast<std::uint32_t>(extend(bits, size));
      std::fill_n(table.lookup.begin() + static_cast<std::ptrdiff_t>(first + bits * each), each,
                  static_cast<std::uint16_t>((length + size) | value << 6));
    }
  });
  return true;
}

bool make_table(Bytes segment, AcTable& table) {
  if (!make_codes(segment, table.codes)) return false;
  Symbols symbols{};
  for_each_code(segment, [&](std::size_t first, unsigned length, std::uint8_t symbol) {
    fill_symbol(first, length, symbol, symbols);
  });
  for (std::size_t i = 0; i < kLookups; ++i) {
    table.pairs[i] = pair_of(symbols, i);
    table.skips[i] = skip_of(symbols, i);
  }
  return true;
}

template <typename Table>
const Table* TableCache<Table>::find(Bytes segment) {
  for (Entry& entry : entries_) {
    if (entry.segment.empty() || !std::ranges::equal(entry.segment, segment)) continue;
    entry.used = ++clock_;
    return &entry.table;
  }
  Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::used);
  oldest.segment.clear();
  if (!make_table(segment, oldest.table)) return nullptr;
  oldest.segment.assign(segment.begin(), segment.end());
  oldest.used = ++clock_;
  return &oldest.table;
}

template class TableCache<DcTable>;
template class TableCache<AcTable>;

}  // namespace echoline::jpeg
