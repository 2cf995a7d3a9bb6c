#include "record/parquet/page_codec.h"

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>

namespace echoline::record {
namespace {

constexpr std::size_t kSizesMax = 0x7FFFFFFF;  // of LZ4 and zlib; sizes of pages are smaller

bool unpack_snappy(std::span<const std::byte> packed, std::span<std::byte> out) {
  const auto* from = reinterpret_cast<const char*>(packed.data());
  std::size_t bytes = 0;
  return snappy::GetUncompressedLength(from, packed.size(), &bytes) && bytes == out.size() &&
         snappy::RawUncompress(from, packed.size(), reinterpret_cast<char*>(out.data()));
}

// Several members may follow each other.
bool unpack_gzip(std::span<const std::byte> packed, std::span<std::byte> out) {
  constexpr int kGzipOrZlib = 15 + 32;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int result = inflate(&stream, Z_FINISH);
  while (result == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0 &&
         inflateReset(&stream) == Z_OK) {
    result = inflate(&stream, Z_FINISH);
  }
  const bool complete = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return complete;
}

bool unpack_brotli(std::span<const std::byte> packed, std::span<std::byte> out) {
  std::size_t bytes = out.size();
  return BrotliDecoderDecompress(
             packed.size(), reinterpret_cast<const std::uint8_t*>(packed.data()), &bytes,
             reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_DECODER_RESULT_SUCCESS &&
         bytes == out.size();
}

bool unpack_zstd(std::span<const std::byte> packed, std::span<std::byte> out) {
  return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
}

bool unpack_lz4(std::span<const std::byte> packed, std::span<std::byte> out) {
  const int bytes = LZ4_decompress_safe(
      reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(out.data()),
      static_cast<int>(packed.size()), static_cast<int>(out.size()));
  return bytes >= 0 && static_cast<std::size_t>(bytes) == out.size();
}

bool unpack(PageCodec codec, std::span<const std::byte> packed, std::span<std::byte> out) {
  switch (codec) {
    case PageCodec::kUncompressed:
      if (packed.size() != out.size()) return false;
      std::copy(packed.begin(), packed.end(), out.begin());
      return true;
    case PageCodec::kSnappy:
      return unpack_snappy(packed, out);
    case PageCodec::kGzip:
      return unpack_gzip(packed, out);
    case PageCodec::kBrotli:
      return unpack_brotli(packed, out);
    case PageCodec::kZstd:
      return unpack_zstd(packed, out);
    case PageCodec::kLz4Raw:
      return unpack_lz4(packed, out);
    case PageCodec::kLzo:
    case PageCodec::kLz4Hadoop:
      break;
  }
  return false;
}

}  // namespace

Status check_codec(PageCodec codec) {
  if (codec != PageCodec::kLzo && codec != PageCodec::kLz4Hadoop) return {};
  return Status(Code::kUnimplemented,
                "compression LZO, and the deprecated LZ4, are not read: write the file with zstd, "
                "snappy or LZ4_RAW");
}

Status unpack_page(PageCodec codec, std::span<const std::byte> packed, std::span<std::byte> out) {
  ECHOLINE_TRY(check_codec(codec));
  // Some writers store nothing for a page of nulls.
  if (out.empty()) return {};
  if (packed.size() <= kSizesMax && out.size() <= kSizesMax && unpack(codec, packed, out)) {
    return {};
  }
  return Status(Code::kDataLoss, "the page cannot be unpacked to its size");
}

}  // namespace echoline::record
