#include "jpeg/huffman_table.h"

#include <algorithm>

#include "jpeg/entropy_codes.h"

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

// One AC symbol: AcTable::lookup with one symbol, in 32 bits: length, advance, and the value from
// bit 16 on; if the value doesn't fit: 0, code length, advance, size.
using OneSymbol = std::array<std::uint32_t, kLookups>;

std::uint32_t advance_of(std::uint8_t symbol) {
  if (symbol == kEndOfBlock) return kBlockEnd;
  return symbol == kZeroRun ? 16 : (symbol >> 4) + 1U;
}

void fill_ac(std::size_t first, unsigned length, std::uint8_t symbol, OneSymbol& one) {
  const unsigned size = symbol & 15;
  const std::size_t count = kLookups >> length;
  const std::uint32_t advance = advance_of(symbol);
  if (!is_ac_symbol(symbol)) return;
  if (length + size > kLookupBits) {
    std::fill_n(one.begin() + static_cast<std::ptrdiff_t>(first), count,
                length << 8 | advance << 16 | size << 24);
    return;
  }
  const std::size_t each = count >> size;
  for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
    const auto value = static_cast<std::uint16_t>(extend(bits, size));
    std::fill_n(one.begin() + static_cast<std::ptrdiff_t>(first + bits * each), each,
                (length + size) | advance << 8 | std::uint32_t{value} << 16);
  }
}

std::uint64_t pair_of(const OneSymbol& one, std::size_t at) {
  const std::uint32_t first = one[at];
  const unsigned length = first & 255;
  if (length == 0) return first;
  const std::uint64_t advance = first >> 8 & 255;
  const std::uint64_t value = first >> 16;
  const std::uint32_t second = one[at << length & (kLookups - 1)];
  const unsigned second_length = second & 255;
  if (advance == kBlockEnd || second_length == 0 || length + second_length > kLookupBits) {
    return length | advance << 8 | advance << 16 | value << 32 | value << 48;
  }
  return (length + second_length) | (advance + (second >> 8 & 255)) << 8 | advance << 16 |
         value << 32 | std::uint64_t{second >> 16} << 48;
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
    if (size > kDcSizeMax || length + size > kLookupBits) return;
    const std::size_t each = kLookups >> (length + size);
    for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
      const auto value = static_cast<std::uint16_t>(extend(bits, size));
      std::fill_n(table.lookup.begin() + static_cast<std::ptrdiff_t>(first + bits * each), each,
                  (length + size) | std::uint32_t{value} << 16);
    }
  });
  return true;
}

bool make_table(Bytes segment, AcTable& table) {
  if (!make_codes(segment, table.codes)) return false;
  OneSymbol one{};
  for_each_code(segment, [&](std::size_t first, unsigned length, std::uint8_t symbol) {
    fill_ac(first, length, symbol, one);
  });
  for (std::size_t i = 0; i < kLookups; ++i) table.lookup[i] = pair_of(one, i);
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
