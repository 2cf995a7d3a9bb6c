// CRC32C is that of ISA-L, which uses the instructions of the processor. No library of Debian has
// CRC-64/NVME: it processes eight bytes per step with eight tables.
#include "base/crc.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace echoline {
namespace {

// ISA-L takes the length as an int.
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
constexpr std::uint64_t kPolynomial = 0x9A6C9329AC4BC9B5;  // bit-reversed

using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::size_t i = 1; i < 8; ++i)
      tables[i][byte] = (tables[i - 1][byte] >> 8) ^ tables[0][tables[i - 1][byte] & 0xFF];
  }
  return tables;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    // ISA-L only reads, although its parameter is not const, and leaves both inversions to us.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    crc = ~crc32_iscsi(data, static_cast<int>(piece.size()), ~crc);
    bytes = bytes.subspan(piece.size());
  }
  return crc;
}

std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes) {
  static constexpr Tables kTables = make_tables();
  crc = ~crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint64_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace echoline
