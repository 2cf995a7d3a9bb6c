// Decodes levels, dictionary indices and booleans: the hybrid of run lengths and bit-packed groups
// (parquet-format, "Run Length Encoding / Bit-Packing Hybrid").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace echoline::record {

// The bits of a number of values, the least significant first.
inline std::uint64_t bits_at(std::span<const std::byte> bytes, std::uint64_t bit, unsigned width) {
  // Up to 57 bits at any place in a byte.
  std::uint64_t word = 0;
  const std::uint64_t at = bit / 8;
  if (at >= bytes.size()) return 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::uint64_t>(sizeof(word), bytes.size() - at));
  return (word >> (bit % 8)) & ((std::uint64_t{1} << width) - 1);
}

// A ULEB128 number off the front of the bytes; nothing if they end within it or it is too long.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes);

// Single-threaded; never reads outside of the bytes, which must stay valid.
class HybridDecoder {
 public:
  static constexpr unsigned kWidthMax = 32;

  HybridDecoder() = default;
  // `width`: bits of a value, at most kWidthMax.
  HybridDecoder(std::span<const std::byte> bytes, unsigned width) : rest_(bytes), width_(width) {}
  // Fills all of `out`. False if the bytes end too early or are wrong.
  bool decode(std::span<std::uint32_t> out);

 private:
  bool begin_run();

  std::span<const std::byte> rest_;
  unsigned width_ = 0;
  std::uint64_t left_ = 0;             // values of the current run
  bool packed_ = false;                // it has a value of its own for each
  std::span<const std::byte> groups_;  // the packed values
  std::uint64_t bit_ = 0;              // of the next packed value
  std::uint32_t value_ = 0;            // of all others
};

// The bits that values up to `max` need.
constexpr unsigned level_width(std::uint32_t max) {
  return static_cast<unsigned>(std::bit_width(max));
}

}  // namespace echoline::record
