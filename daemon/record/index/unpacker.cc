// Unpackers for zlib, zstd, bzip2 and brotli.
#include "record/index/unpacker.h"

#include <brotli/decode.h>
#include <bzlib.h>
#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "record/index/compression.h"
#include "record/index/snappy_unpacker.h"

namespace echoline::record {
namespace {

Status damaged(const char* what) {
  return Status(Code::kDataLoss, fmt::format("the compressed file is damaged ({}): write it again",
                                             what == nullptr ? "no message" : what));
}

// zlib's ways to say which header a stream has.
constexpr int kZlibHeader = 15, kGzipHeader = 15 + 16;

class DeflateUnpacker final : public Unpacker {
 public:
  explicit DeflateUnpacker(int header) { open_ = inflateInit2(&stream_, header) == Z_OK; }
  DeflateUnpacker(const DeflateUnpacker&) = delete;
  DeflateUnpacker& operator=(const DeflateUnpacker&) = delete;
  ~DeflateUnpacker() override {
    if (open_) inflateEnd(&stream_);
  }
  bool open() const { return open_; }
  bool complete() const override { return between_; }
  Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) override;

 private:
  Status step(std::span<const std::byte>& in, std::span<std::byte>& out);

  z_stream stream_{};
  bool open_ = false;
  bool between_ = false;  // between members; zeros may follow the last one
};

Result<std::size_t> DeflateUnpacker::unpack(std::span<const std::byte>& in,
                                            std::span<std::byte> out) {
  const std::size_t room = out.size();
  while (!in.empty() && !out.empty()) {
    if (between_) {
      // Zeros after a member are padding.
      if (in.front() == std::byte{0}) {
        in = in.subspan(1);
        continue;
      }
      // The next member of a stream with several.
      if (inflateReset(&stream_) != Z_OK) return damaged(stream_.msg);
      between_ = false;
    }
    ECHOLINE_TRY(step(in, out));
  }
  // zlib may hold output of input that it has taken.
  while (in.empty() && !out.empty() && !between_) {
    const std::size_t before = out.size();
    ECHOLINE_TRY(step(in, out));
    if (out.size() == before) break;
  }
  return room - out.size();
}

Status DeflateUnpacker::step(std::span<const std::byte>& in, std::span<std::byte>& out) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
  stream_.avail_in = static_cast<uInt>(std::min(in.size(), kMost));
  stream_.next_out = reinterpret_cast<Bytef*>(out.data());
  stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMost));
  const uInt in_before = stream_.avail_in, out_before = stream_.avail_out;
  const int result = inflate(&stream_, Z_NO_FLUSH);
  if (result == Z_STREAM_END) {
    between_ = true;
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    return damaged(stream_.msg);
  }
  in = in.subspan(in_before - stream_.avail_in);
  out = out.subspan(out_before - stream_.avail_out);
  return {};
}

// Every zstd reader must support this window, and levels up to 19 need no more. Larger windows, 128
// MiB and more per active shard, would exceed the memory budget.
constexpr int kZstdWindowBits = 23;

Status zstd_failure(std::size_t result) {
  if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) {
    return Status(Code::kUnimplemented,
                  fmt::format("the zstd file needs a window of more than {} MiB: compress it again "
                              "without --long, at level 19 at most",
                              1 << (kZstdWindowBits - 20)));
  }
  return damaged(ZSTD_getErrorName(result));
}

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() : stream_(ZSTD_createDStream()) {
    if (open()) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowBits);
  }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;
  ~ZstdUnpacker() override { ZSTD_freeDStream(stream_); }
  bool open() const { return stream_ != nullptr; }
  bool complete() const override { return between_; }
  Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) override;

 private:
  ZSTD_DStream* const stream_;
  bool between_ = false;
};

Result<std::size_t> ZstdUnpacker::unpack(std::span<const std::byte>& in, std::span<std::byte> out) {
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  // Ends when `out` is full, or when the input is used up at the end of a frame.
  while (to.pos < to.size && !(from.pos == from.size && between_)) {
    const std::size_t from_before = from.pos, to_before = to.pos;
    const std::size_t result = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(result) != 0) return zstd_failure(result);
    // 0: a frame has ended, and all of it is written.
    between_ = result == 0;
    // No progress: the decoder needs more input.
    if (from.pos == from_before && to.pos == to_before) break;
  }
  in = in.subspan(from.pos);
  return to.pos;
}

class Bzip2Unpacker final : public Unpacker {
 public:
  Bzip2Unpacker() { open_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK; }
  Bzip2Unpacker(const Bzip2Unpacker&) = delete;
  Bzip2Unpacker& operator=(const Bzip2Unpacker&) = delete;
  ~Bzip2Unpacker() override {
    if (open_) BZ2_bzDecompressEnd(&stream_);
  }
  bool open() const { return open_; }
  bool complete() const override { return between_; }
  Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) override;

 private:
  Status restart();

  bz_stream stream_{};
  bool open_ = false;
  bool between_ = false;  // between streams
};

Status Bzip2Unpacker::restart() {
  BZ2_bzDecompressEnd(&stream_);
  stream_ = {};
  open_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
  between_ = false;
  return open_ ? Status() : Status(Code::kResourceExhausted, "no memory to unpack with");
}

Result<std::size_t> Bzip2Unpacker::unpack(std::span<const std::byte>& in,
                                          std::span<std::byte> out) {
  constexpr std::size_t kMost = std::numeric_limits<unsigned>::max();
  const std::size_t room = out.size();
  while (!out.empty() && !(in.empty() && between_)) {
    if (between_) ECHOLINE_TRY(restart());
    stream_.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<unsigned>(std::min(in.size(), kMost));
    stream_.next_out = reinterpret_cast<char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(std::min(out.size(), kMost));
    const unsigned in_before = stream_.avail_in, out_before = stream_.avail_out;
    const int result = BZ2_bzDecompress(&stream_);
    if (result != BZ_OK && result != BZ_STREAM_END)
      return damaged("no bzip2, or wrong bytes in it");
    between_ = result == BZ_STREAM_END;
    in = in.subspan(in_before - stream_.avail_in);
    out = out.subspan(out_before - stream_.avail_out);
    const bool moved = stream_.avail_in < in_before || stream_.avail_out < out_before;
    if (!moved && !between_) break;
  }
  return room - out.size();
}

class BrotliUnpacker final : public Unpacker {
 public:
  BrotliUnpacker() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {}
  BrotliUnpacker(const BrotliUnpacker&) = delete;
  BrotliUnpacker& operator=(const BrotliUnpacker&) = delete;
  ~BrotliUnpacker() override { BrotliDecoderDestroyInstance(state_); }
  bool open() const { return state_ != nullptr; }
  bool complete() const override { return BrotliDecoderIsFinished(state_) == BROTLI_TRUE; }
  Result<std::size_t> unpack(std::span<const std::byte>& in, std::span<std::byte> out) override;

 private:
  BrotliDecoderState* const state_;
};

Result<std::size_t> BrotliUnpacker::unpack(std::span<const std::byte>& in,
                                           std::span<std::byte> out) {
  std::size_t in_left = in.size(), out_left = out.size();
  const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  const BrotliDecoderResult result =
      BrotliDecoderDecompressStream(state_, &in_left, &from, &out_left, &to, nullptr);
  if (result == BROTLI_DECODER_RESULT_ERROR) {
    return damaged(BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state_)));
  }
  in = in.subspan(in.size() - in_left);
  if (complete() && !in.empty()) return damaged("bytes after its end");
  return out.size() - out_left;
}

// By RFC 7932, section 9.1: these four bits are a window of 16 MiB, the only one above 8 MiB.
Status check_brotli_window(std::span<const std::byte> head) {
  if (head.empty() || (std::to_integer<unsigned>(head[0]) & 15) != 15) return {};
  return Status(Code::kUnimplemented,
                "the brotli file needs a window of 16 MiB: compress it again with a window "
                "(lgwin) of 23 at most");
}

template <typename T, typename... Arguments>
Result<std::unique_ptr<Unpacker>> make_open(Arguments... arguments) {
  auto unpacker = std::make_unique<T>(arguments...);
  if (unpacker->open()) return std::unique_ptr<Unpacker>(std::move(unpacker));
  return Status(Code::kResourceExhausted, "no memory to unpack with");
}

Compression named(std::span<const std::byte> head) {
  const std::string_view name = compression_of(head);
  if (name == "gzip") return Compression::kGzip;
  if (name == "zstd") return Compression::kZstd;
  if (name == "bzip2") return Compression::kBzip2;
  return name.empty() && may_be_zlib(head) ? Compression::kZlib : Compression::kByContent;
}

}  // namespace

Result<std::unique_ptr<Unpacker>> Unpacker::make(std::span<const std::byte> head,
                                                 Compression compression) {
  if (compression == Compression::kByContent) compression = named(head);
  switch (compression) {
    case Compression::kGzip:
      return make_open<DeflateUnpacker>(kGzipHeader);
    case Compression::kZlib:
      return make_open<DeflateUnpacker>(kZlibHeader);
    case Compression::kZstd:
      return make_open<ZstdUnpacker>();
    case Compression::kBzip2:
      return make_open<Bzip2Unpacker>();
    case Compression::kBrotli:
      ECHOLINE_TRY(check_brotli_window(head));
      return make_open<BrotliUnpacker>();
    case Compression::kSnappy:
      return std::unique_ptr<Unpacker>(std::make_unique<SnappyUnpacker>());
    case Compression::kByContent:
      break;
  }
  ECHOLINE_TRY(refuse_compressed(head));
  return Status(Code::kUnimplemented, "the file is not compressed in a way that is known here");
}

}  // namespace echoline::record
