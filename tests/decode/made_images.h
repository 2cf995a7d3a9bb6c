// Small pictures encoded in memory, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echoline::decode {

// Gradients with a little noise: [height, width, channels].
std::vector<std::uint8_t> made_pixels(std::uint32_t height, std::uint32_t width,
                                      std::uint32_t channels);

struct JpegStyle {
  std::uint32_t channels = 3;
  bool progressive = false;
  bool arithmetic = false;
  int wide = 2;  // columns and rows of pixels for each value of chroma
  int high = 2;
  unsigned restart_rows = 0;  // rows of blocks between two restart markers; 0: none
  unsigned restart_mcus = 0;  // MCUs between two restart markers; 0: as restart_rows says
  int quality = 75;
  bool noise = false;  // pixels without any order, instead of made_pixels
};
std::string made_jpeg(std::uint32_t height, std::uint32_t width, const JpegStyle& style);
std::string made_jpeg(std::uint32_t height, std::uint32_t width, bool progressive = false);
std::string made_png(std::uint32_t height, std::uint32_t width);
std::string made_webp(std::uint32_t height, std::uint32_t width, bool lossless = false);
// Lossless: 4:4:4 without a change of colours; else 4:2:0.
std::string made_avif(std::uint32_t height, std::uint32_t width, bool lossless = false,
                      int frames = 1);

// The JPEG with another size in its frame header.
std::string with_size(std::string jpeg, std::uint32_t height, std::uint32_t width);

// The JPEG without its segments of this marker, such as 0xC4 for Huffman tables.
std::string without_segments(const std::string& jpeg, std::uint8_t marker);

// The JPEG with other values in its quantization tables.
std::string with_steps(std::string jpeg, std::uint32_t seed);

// The progressive JPEG with its first scan repeated `count` times.
std::string with_more_scans(const std::string& jpeg, int count);

// The JPEG with an EXIF segment of this orientation.
std::string with_orientation(const std::string& jpeg, std::uint8_t orientation);

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace echoline::decode
