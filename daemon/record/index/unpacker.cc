// Unpackers for zlib and zstd.
#include "record/index/unpacker.h"

#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "record/index/compression.h"

namespace echoline::record {
namespace {

Status damaged(const char* what) {
  return Status(Code::kDataLoss, fmt::format("the compressed file is damaged ({}): write it again",
                                             what == nullptr ? "no message" : what));
}

class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() { open_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }  // gzip headers only
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;
  ~GzipUnpacker() override {
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

Result<std::size_t> GzipUnpacker::unpack(std::span<const std::byte>& in, std::span<std::byte> out) {
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

Status GzipUnpacker::step(std::span<const std::byte>& in, std::span<std::byte>& out) {
  // zlib counts in 32 bits.
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

}  // namespace

Result<std::unique_ptr<Unpacker>> Unpacker::make(std::span<const std::byte> head) {
  const std::string_view compression = compression_of(head);
  if (compression == "gzip") {
    auto unpacker = std::make_unique<GzipUnpacker>();
    if (unpacker->open()) return std::unique_ptr<Unpacker>(std::move(unpacker));
  } else if (compression == "zstd") {
    auto unpacker = std::make_unique<ZstdUnpacker>();
    if (unpacker->open()) return std::unique_ptr<Unpacker>(std::move(unpacker));
  } else {
    ECHOLINE_TRY(refuse_compressed(head));
    return Status(Code::kUnimplemented, "the file is neither gzip nor zstd");
  }
  return Status(Code::kResourceExhausted, "no memory to unpack with");
}

}  // namespace echoline::record
