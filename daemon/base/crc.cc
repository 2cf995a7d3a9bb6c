// Processes eight bytes per step with eight tables. CRC32C uses the processor's instruction if
// there is one, on three independent chains: each instruction depends on the one before it, and the
// processor can run three at a time.
#include "base/crc.h"

#include <array>
#include <cstring>

namespace echoline {
namespace {

// Polynomials, bit-reversed.
constexpr std::uint32_t kCrc32c = 0x82F63B78;
constexpr std::uint64_t kCrc64Nvme = 0x9A6C9329AC4BC9B5;

template <typename T>
using Tables = std::array<std::array<T, 256>, 8>;

template <typename T>
constexpr Tables<T> make_tables(T polynomial) {
  Tables<T> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    T crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::size_t i = 1; i < 8; ++i)
      tables[i][byte] = (tables[i - 1][byte] >> 8) ^ tables[0][tables[i - 1][byte] & 0xFF];
  }
  return tables;
}

template <typename T, T kPolynomial>
T by_tables(T crc, std::span<const std::byte> bytes) {
  static constexpr Tables<T> kTables = make_tables(kPolynomial);
  crc = static_cast<T>(~crc);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<T>(byte)) & 0xFF];
  return static_cast<T>(~crc);
}

#if defined(__x86_64__)
constexpr std::size_t kChainBytes = 1024;
using ShiftTables = std::array<std::array<std::uint32_t, 256>, 4>;  // by byte of the state

// The CRC state after a chain's length of zero bytes. This is linear in the state, so a table per
// byte is enough.
constexpr ShiftTables make_shift_tables() {
  constexpr Tables<std::uint32_t> kTables = make_tables(kCrc32c);
  ShiftTables shift{};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t state = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < kChainBytes; ++i) state = (state >> 8) ^ kTables[0][state & 0xFF];
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if ((byte >> bit % 8 & 1) != 0) shift[bit / 8][byte] ^= state;
    }
  }
  return shift;
}

std::uint32_t past_a_chain(std::uint64_t state) {
  static constexpr ShiftTables kShift = make_shift_tables();
  return kShift[0][state & 0xFF] ^ kShift[1][state >> 8 & 0xFF] ^ kShift[2][state >> 16 & 0xFF] ^
         kShift[3][state >> 24 & 0xFF];
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, 8);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  for (; bytes.size() >= 3 * kChainBytes; bytes = bytes.subspan(3 * kChainBytes)) {
    std::uint64_t second = 0, third = 0;
    for (std::size_t at = 0; at < kChainBytes; at += 8) {
      state = __builtin_ia32_crc32di(state, word_at(bytes, at));
      second = __builtin_ia32_crc32di(second, word_at(bytes, kChainBytes + at));
      third = __builtin_ia32_crc32di(third, word_at(bytes, 2 * kChainBytes + at));
    }
    state = past_a_chain(past_a_chain(state) ^ second) ^ third;
  }
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    state = __builtin_ia32_crc32di(state, word_at(bytes, 0));
  }
  auto small = static_cast<std::uint32_t>(state);
  for (const std::byte byte : bytes)
    small = __builtin_ia32_crc32qi(small, static_cast<unsigned char>(byte));
  return ~small;
}
#endif

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_by_instruction(crc, bytes);
#endif
  return by_tables<std::uint32_t, kCrc32c>(crc, bytes);
}

std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes) {
  return by_tables<std::uint64_t, kCrc64Nvme>(crc, bytes);
}

}  // namespace echoline
