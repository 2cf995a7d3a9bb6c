#include "jpeg/huffman_table.h"

#include <algorithm>

#include "jpeg/bit_reader.h"

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

// The symbols that look-ups begin with, in the forms that they have there. 0: not one that fits.
struct Symbols {
  std::array<std::uint32_t, kLookups> seconds{};  // as the second one of AcPair
  std::array<std::uint16_t, kLookups> skips{};    // as in AcTable::skips
};

// A run of look-ups that begin with the same symbol and value.
struct Run {
  std::size_t begin = 0;
  std::size_t count = 0;
  unsigned length = 0;  // of symbol and value; longer than a look-up if they don't fit
  unsigned code_length = 0;
  std::uint8_t symbol = 0;
  std::int32_t value = 0;
};

template <typename Use>
void for_each_run(Bytes segment, const Use& use) {
  for_each_code(segment, [&](std::size_t begin, unsigned length, std::uint8_t symbol) {
    if (!is_ac_symbol(symbol)) return;
    const unsigned size = symbol & 15;
    Run run{begin, kLookups >> length, length + size, length, symbol, 0};
    if (run.length > kLookupBits) return use(run);
    run.count >>= size;
    for (std::uint32_t bits = 0; bits < 1U << size; ++bits, run.begin += run.count) {
      run.value = extend(bits, size);
      use(run);
    }
  });
}

// The fields of AcPair.
constexpr unsigned kFirstValueBits = 10;
constexpr unsigned kSecondValueBits = 6;
constexpr unsigned kSecondAdvanceMax = 15;

bool fits(std::int32_t value, unsigned bits) {
  return value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

void note_symbol(const Run& run, Symbols& symbols) {
  if (run.length > kLookupBits) return;
  const unsigned advance = advance_of(run.symbol);
  std::uint32_t second = 0;
  if (advance == kBlockEnd) {
    second = run.length | AcPair::kEnd;
  } else if (advance <= kSecondAdvanceMax && fits(run.value, kSecondValueBits)) {
    second = run.length | advance << 10 | static_cast<std::uint32_t>(run.value) << 26 >> 11;
  }
  const auto skip = static_cast<std::uint16_t>(run.length | advance << 6);
  std::fill_n(symbols.seconds.begin() + static_cast<std::ptrdiff_t>(run.begin), run.count, second);
  std::fill_n(symbols.skips.begin() + static_cast<std::ptrdiff_t>(run.begin), run.count, skip);
}

// The sum of `first` and, as far as it fits, of the symbol after it.
template <typename Entry>
Entry with_next(Entry first, Entry next, unsigned left) {
  return static_cast<Entry>(first + ((next & BitReader::kLengthMask) <= left ? next : 0));
}

void fill_run(const Run& run, const Symbols& symbols, AcTable& table) {
  const unsigned advance = advance_of(run.symbol);
  AcPair* pairs = table.pairs.data() + run.begin;
  std::uint16_t* skips = table.skips.data() + run.begin;
  if (run.length > kLookupBits || !fits(run.value, kFirstValueBits)) {
    const std::uint32_t entry = AcPair::kLong | run.code_length << 10 | run.symbol << 16U;
    std::fill_n(pairs, run.count, AcPair{entry});
    return;
  }
  const auto skip = static_cast<std::uint16_t>(run.length | advance << 6);
  if (advance == kBlockEnd) {
    std::fill_n(pairs, run.count, AcPair{run.length | AcPair::kEnd});
    std::fill_n(skips, run.count, skip);
    return;
  }
  const std::uint32_t pair = run.length | (advance - 1) << 6 |
                             static_cast<std::uint32_t>(run.value) << (32 - kFirstValueBits) >> 1;
  // A zero run alone, so that a first value of 0 always means an end of block.
  const unsigned left = run.value == 0 ? 0 : kLookupBits - run.length;
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::size_t next = i << run.length;
    pairs[i] = {with_next(pair, symbols.seconds[next], left)};
    skips[i] = with_next(skip, symbols.skips[next], left);
  }
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
  Symbols symbols;
  table.pairs.fill({});
  table.skips.fill(0);
  for_each_run(segment, [&](const Run& run) { note_symbol(run, symbols); });
  for_each_run(segment, [&](const Run& run) { fill_run(run, symbols, table); });
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
