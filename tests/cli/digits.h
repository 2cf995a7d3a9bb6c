// Writes a small data set: 8 x 8 pictures and labels as IDX files.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace echoline::cli {

inline constexpr int kDigits = 60;

inline void write_big_endian(std::ofstream& file, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
}

// All pixels of picture i are i; its label is i % 10.
inline void write_digits(const std::string& folder) {
  std::ofstream images(folder + "/images-idx3-ubyte", std::ios::binary);
  for (const std::uint32_t word : {0x00000803U, std::uint32_t{kDigits}, 8U, 8U}) {
    write_big_endian(images, word);
  }
  std::ofstream labels(folder + "/labels-idx1-ubyte", std::ios::binary);
  for (const std::uint32_t word : {0x00000801U, std::uint32_t{kDigits}})
    write_big_endian(labels, word);
  for (int i = 0; i < kDigits; ++i) {
    images << std::string(64, static_cast<char>(i));
    labels.put(static_cast<char>(i % 10));
  }
}

}  // namespace echoline::cli
