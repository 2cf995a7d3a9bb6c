// Eight bytes a step through eight tables; CRC32C by the processor's own instruction where it has
// one.
#include "base/crc.h"

#include <array>
#include <cstring>

namespace echoline {
namespace {

// Polynomials with their bits in reverse.
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
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    state = __builtin_ia32_crc32di(state, word);
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
