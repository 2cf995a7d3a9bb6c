// Formulas for all values of a test stream, by epoch and row, so that trainers can check what they
// read.
#pragma once

#include <cstdint>

namespace echoline::test {

inline constexpr std::uint32_t kImageBytes = 5 * 7 * 3;

inline std::uint64_t made_sample_id(std::uint64_t epoch, std::uint64_t row) {
  return (row * 7919 + epoch * 31) % 1'000'003;
}
inline std::uint32_t made_use(std::uint64_t row) { return static_cast<std::uint32_t>(row % 3); }
inline std::uint8_t made_pixel(std::uint64_t epoch, std::uint64_t row, std::uint32_t at) {
  return static_cast<std::uint8_t>(epoch * 131 + row * 7 + at);
}
inline std::int64_t made_label(std::uint64_t epoch, std::uint64_t row) {
  return static_cast<std::int64_t>(epoch * 1'000'000 + row);
}
// The number of int32 tokens in a row, 0 to 4.
inline std::uint32_t made_token_count(std::uint64_t row) {
  return static_cast<std::uint32_t>(row % 5);
}
inline std::int32_t made_token(std::uint64_t row, std::uint32_t at) {
  return static_cast<std::int32_t>(row * 10 + at);
}

}  // namespace echoline::test
