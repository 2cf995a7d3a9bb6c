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

// Calls `use`(first look-up, code length, symbol) for each code that look-ups of `bits` bits hold.
template <typename Use>
void for_each_code(Bytes segment, unsigned bits, const Use& use) {
  std::size_t first = 0;
  std::size_t symbol = Codes::kLengthMax;
  for (unsigned length = 1; length <= bits; ++length) {
    for (unsigned i = 0; i < segment[length - 1]; ++i, ++symbol) {
      use(first, length, segment[symbol]);
      first += std::size_t{1} << (bits - length);
    }
  }
}

// What can follow within a look-up after a symbol: look-ups by the bits that are left. 0: nothing
// that fits.
template <typename Entry>
class Rests {
 public:
  // No more bits than these are left after any code.
  static unsigned bits_max(Bytes segment) {
    unsigned length = 1;
    while (length < kLookupBits && segment[length - 1] == 0) ++length;
    return kLookupBits - length;
  }
  Entry* of(unsigned bits) { return entries_.data() + (std::size_t{1} << bits); }

 private:
  std::array<Entry, kLookups> entries_{};  // those for n bits begin at 2^n
};

// Calls `use`(first look-up, look-ups, value) for each value of a symbol that fits with its code.
template <typename Use>
void for_each_value(std::size_t first, unsigned size, unsigned left, const Use& use) {
  const std::size_t each = std::size_t{1} << left;
  for (std::uint32_t i = 0; i < 1U << size; ++i, first += each) use(first, each, extend(i, size));
}

// Values in AcPair, and differences in DcTable.
constexpr unsigned kFirstSizeMax = 9;
constexpr unsigned kSecondSizeMax = 5;
constexpr unsigned kDcSizeFits = 9;

void fill_seconds(Bytes segment, unsigned bits, std::uint32_t* seconds) {
  for_each_code(segment, bits, [&](std::size_t begin, unsigned length, std::uint8_t symbol) {
    const unsigned size = symbol & 15;
    const unsigned total = length + size;
    if (!is_ac_symbol(symbol) || size > kSecondSizeMax || total > bits) return;
    const std::uint32_t advance = symbol == kEndOfBlock ? AcPair::kEnd : advance_of(symbol);
    for_each_value(begin, size, bits - total, [&](std::size_t first, std::size_t count, int value) {
      const auto field = static_cast<std::uint32_t>(value) << 26 >> 10;
      std::fill_n(seconds + first, count, total | advance << 6 | field);
    });
  });
}

void fill_pairs(Bytes segment, std::array<AcPair, kLookups>& pairs) {
  Rests<std::uint32_t> seconds;
  const unsigned bits_max = seconds.bits_max(segment);
  for (unsigned bits = 1; bits <= bits_max; ++bits) fill_seconds(segment, bits, seconds.of(bits));
  pairs.fill({});
  for_each_code(segment, kLookupBits, [&](std::size_t begin, unsigned length, std::uint8_t symbol) {
    const unsigned size = symbol & 15;
    const unsigned total = length + size;
    if (!is_ac_symbol(symbol)) return;
    AcPair* const pair = pairs.data() + begin;
    if (symbol == kEndOfBlock || total > kLookupBits || size > kFirstSizeMax) {
      const std::uint32_t bits = symbol == kEndOfBlock ? length : length << 16 | symbol << 20U;
      return void(std::fill_n(pair, kLookups >> length, AcPair{bits | AcPair::kEndBits}));
    }
    const unsigned left = kLookupBits - total;
    const std::uint32_t* second = seconds.of(left);
    const std::uint32_t bits = total | (advance_of(symbol) - 1) << 12;
    // A zero run alone, so that a first value of 0 always means an end of block.
    if (size == 0) return void(std::fill_n(pair, kLookups >> length, AcPair{bits}));
    for_each_value(0, size, left, [&](std::size_t first, std::size_t count, int value) {
      const std::uint32_t with_value = bits | static_cast<std::uint32_t>(value) << 22;
      for (std::size_t i = 0; i < count; ++i) pair[first + i].bits = with_value + second[i];
    });
  });
}

// The sum of the advances of `skip` and `next`, and of their lengths, if it is allowed: a sum
// without an end of block must not look like one.
std::uint16_t with_next(std::uint16_t skip, std::uint16_t next) {
  const auto sum = static_cast<std::uint16_t>(skip + next);
  const auto length = static_cast<std::uint16_t>(sum & BitReader::kLengthMask);
  // An advance of 64 to 127: a run beyond the block. Ends of blocks have kBlockEnd, 128.
  const auto beyond = static_cast<std::uint16_t>(sum & kBlockEnd / 2 << 6);
  return length <= kSkipBitsMax && beyond == 0 ? sum : skip;
}

// `rests`: those of fewer bits are filled already.
void fill_skips(Bytes segment, unsigned bits, Rests<std::uint16_t>& rests, std::uint16_t* skips) {
  for_each_code(segment, bits, [&](std::size_t begin, unsigned length, std::uint8_t symbol) {
    const unsigned total = length + (symbol & 15);
    if (!is_ac_symbol(symbol) || total > kSkipBitsMax) return;
    const auto skip = static_cast<std::uint16_t>(total | advance_of(symbol) << 6);
    const unsigned left = symbol == kEndOfBlock || total > bits ? 0 : bits - total;
    const std::uint16_t* next = rests.of(left);  // of 0 bits: nothing that fits
    const std::size_t count = std::size_t{1} << left;
    std::uint16_t* const end = skips + begin + (std::size_t{1} << (bits - length));
    for (std::uint16_t* out = skips + begin; out != end; out += count) {
      for (std::size_t i = 0; i < count; ++i) out[i] = with_next(skip, next[i]);
    }
  });
}

void fill_skips(Bytes segment, std::array<std::uint16_t, kLookups>& skips) {
  Rests<std::uint16_t> rests;
  const unsigned bits_max = rests.bits_max(segment);
  for (unsigned bits = 1; bits <= bits_max; ++bits) {
    fill_skips(segment, bits, rests, rests.of(bits));
  }
  skips.fill(0);
  fill_skips(segment, kLookupBits, rests, skips.data());
}

}  // namespace

bool make_table(Bytes segment, DcTable& table) {
  if (!make_codes(segment, table.codes)) return false;
  const Bytes symbols = segment.subspan(Codes::kLengthMax);
  if (std::any_of(symbols.begin(), symbols.end(), [](unsigned size) { return size > 15; })) {
    return false;
  }
  table.lookup.fill(0);
  for_each_code(segment, kLookupBits, [&](std::size_t first, unsigned length, std::uint8_t size) {
    if (length + size > kLookupBits || size > kDcSizeFits) return;
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
  fill_pairs(segment, table.pairs);
  fill_skips(segment, table.skips);
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
