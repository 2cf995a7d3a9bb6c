// The marker segments before the scan: ITU-T T.81, Annex B.2 (1992), and the two application
// segments that say which colours the components are (JFIF 1.02; Adobe Technical Note 5116).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace echoline::jpeg {

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::size_t kComponentsMax = 3;
inline constexpr std::size_t kBlockSamples =
    64;  // coefficients of a block, samples of 8 x 8 pixels

// One component of the frame (B.2.2) with its tables in the scan (B.2.3).
struct Component {
  std::uint8_t id = 0;
  std::uint8_t horizontal = 1;  // sampling factors: columns and rows of blocks in an MCU
  std::uint8_t vertical = 1;
  std::uint8_t quantization = 0;  // numbers of its tables
  std::uint8_t dc_table = 0;
  std::uint8_t ac_table = 0;
};

// Views of the file that `read_header` was given.
struct Header {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::size_t component_count = 0;  // 1: gray, 3: YCbCr
  std::array<Component, kComponentsMax> components;
  // By number. Empty: not defined.
  std::array<Bytes, 4> quantization;  // 64 values in zigzag order (B.2.4.1)
  std::array<Bytes, 4> dc;            // 16 counts of codes and their symbols (B.2.4.2)
  std::array<Bytes, 4> ac;
  std::uint32_t restart_interval = 0;  // in MCUs; 0: none (B.2.4.4)
  std::size_t scan_begin = 0;          // offset of the entropy-coded data
  std::vector<Bytes> app1;             // payloads of the APP1 segments, such as EXIF
};

// Reads the segments up to the scan. False for every file that this module does not decode:
// anything but a baseline or 8-bit extended sequential frame with one scan of Huffman codes, gray
// or YCbCr, with the usual sampling factors and with all its tables; also for damaged segments.
// Then the content of `header` is undefined.
bool read_header(Bytes file, Header& header);

}  // namespace echoline::jpeg
