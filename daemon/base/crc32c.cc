// Eight bytes a step: by the processor's instruction, or by eight tables, one for each distance
// from the step's end.
#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace echoline {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (std::size_t t = 1; t < 8; ++t) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[t - 1][i];
      tables[t][i] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t load(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

std::uint32_t by_tables(const std::byte* at, std::size_t count, std::uint32_t crc) {
  for (; count >= 8; at += 8, count -= 8) {
    const std::uint64_t word = load(at) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xFF];
  }
  for (; count > 0; ++at, --count) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xFF];
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const std::byte* at,
                                                               std::size_t count,
                                                               std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; count >= 8; at += 8, count -= 8) wide = __builtin_ia32_crc32di(wide, load(at));
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; count > 0; ++at, --count) {
    narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(*at));
  }
  return narrow;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(bytes.data(), bytes.size(), ~crc);
#endif
  return ~by_tables(bytes.data(), bytes.size(), ~crc);
}

}  // namespace echoline
