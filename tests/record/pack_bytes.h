// Compresses bytes with the libraries themselves, for tests that unpack them.
#pragma once

#include <brotli/encode.h>
#include <bzlib.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace echoline::record {

inline std::string zstd_bytes(const std::string& plain, int level = 1) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), level));
  return packed;
}

inline std::string brotli_bytes(const std::string& plain, int window_bits = BROTLI_DEFAULT_WINDOW) {
  std::string packed(BrotliEncoderMaxCompressedSize(plain.size()) + 16, '\0');
  std::size_t bytes = packed.size();
  BrotliEncoderCompress(5, window_bits, BROTLI_MODE_GENERIC, plain.size(),
                        reinterpret_cast<const std::uint8_t*>(plain.data()), &bytes,
                        reinterpret_cast<std::uint8_t*>(packed.data()));
  packed.resize(bytes);
  return packed;
}

inline std::string bzip2_bytes(std::string plain) {
  std::string packed(plain.size() + plain.size() / 50 + 700, '\0');
  auto bytes = static_cast<unsigned>(packed.size());
  BZ2_bzBuffToBuffCompress(packed.data(), &bytes, plain.data(), static_cast<unsigned>(plain.size()),
                           1, 0, 0);
  packed.resize(bytes);
  return packed;
}

inline std::string zlib_bytes(const std::string& plain) {
  std::string packed(compressBound(plain.size()), '\0');
  uLongf bytes = packed.size();
  compress2(reinterpret_cast<Bytef*>(packed.data()), &bytes,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 1);
  packed.resize(bytes);
  return packed;
}

// Snappy's block format with literals and copies, by its specification: repeats of the last
// `distance` bytes become copies.
inline std::string snappy_bytes(const std::string& plain, std::size_t distance = 300) {
  std::string packed;
  for (std::size_t left = plain.size();; left >>= 7) {
    packed += static_cast<char>(left > 127 ? left % 128 + 128 : left);
    if (left <= 127) break;
  }
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t count = std::min<std::size_t>(60, plain.size() - at);
    if (at >= distance && plain.compare(at, count, plain, at - distance, count) == 0) {
      packed += static_cast<char>(2 | (count - 1) << 2);
      packed += static_cast<char>(distance % 256);
      packed += static_cast<char>(distance / 256);
    } else {
      packed += static_cast<char>((count - 1) << 2);
      packed.append(plain, at, count);
    }
    at += count;
  }
  return packed;
}

}  // namespace echoline::record
