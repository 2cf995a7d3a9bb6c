// The plain scan sees windows of unpacked bytes. It learns the unpacked size only at the end.
#include "record/index/compressed_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "record/index/checksum_scan.h"
#include "record/index/compression.h"
#include "record/index/unpacker.h"

namespace echoline::record {
namespace {

// Compressed bytes that are read at a time.
constexpr std::uint64_t kWindowBytes = 1 << 20;
constexpr std::size_t kChunkBytes = 256 << 10;
// Larger than any shard, and small enough that sums cannot overflow.
constexpr std::uint64_t kEndUnknown = std::uint64_t{1} << 62;

// Passes unpacked bytes to a plain scan and holds back those that it cannot use yet.
class UnpackedFeed {
 public:
  explicit UnpackedFeed(std::unique_ptr<ShardScan> scan) : scan_(std::move(scan)) {}
  ShardScan& scan() { return *scan_; }
  std::uint64_t bytes() const { return start_ + held_.size(); }

  Status add(std::span<const std::byte> chunk) {
    // The common case: the scan uses the chunk without a copy.
    if (held_.empty()) {
      ECHOLINE_ASSIGN(const std::size_t used, take(chunk));
      start_ += used;
      held_.assign(chunk.begin() + static_cast<std::ptrdiff_t>(used), chunk.end());
      return {};
    }
    held_.insert(held_.end(), chunk.begin(), chunk.end());
    ECHOLINE_ASSIGN(const std::size_t used, take(held_));
    start_ += used;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(used));
    return {};
  }

  Status end() {
    // The scan worked with an unknown end; now it can finish its last record.
    scan_->end_at(bytes());
    while (!scan_->done()) {
      ECHOLINE_TRY(
          scan_->take(std::span<const std::byte>(held_).subspan(scan_->position() - start_)));
    }
    return {};
  }

 private:
  // Returns how many bytes, from start_ on, the scan no longer needs.
  Result<std::size_t> take(std::span<const std::byte> bytes) {
    while (!scan_->done()) {
      const std::uint64_t before = scan_->position();
      const auto rest = bytes.subspan(std::min<std::uint64_t>(before - start_, bytes.size()));
      // The scan wants more bytes than there are: they are held back until the next chunk.
      if (rest.empty() || rest.size() < scan_->needed()) break;
      ECHOLINE_TRY(scan_->take(rest));
      // No progress: the scan needs more bytes.
      if (scan_->position() == before) break;
    }
    // Nothing behind the last record is needed.
    if (scan_->done()) return bytes.size();
    return std::min<std::uint64_t>(scan_->position() - start_, bytes.size());
  }

  const std::unique_ptr<ShardScan> scan_;
  std::vector<std::byte> held_;
  std::uint64_t start_ = 0;  // offset of held_ in the unpacked bytes
};

class UnpackingScan final : public ShardScan {
 public:
  UnpackingScan(std::uint64_t shard_bytes, std::uint64_t skip_bytes, PlainScan plain)
      : shard_bytes_(shard_bytes), skip_bytes_(skip_bytes), plain_(std::move(plain)) {}

  bool done() const override { return scan_ ? scan_->done() : position_ == shard_bytes_; }
  std::uint64_t position() const override { return scan_ ? scan_->position() : position_; }
  std::uint64_t needed() const override {
    if (scan_) return scan_->needed();
    // The head decides how to continue; after that, whole windows are read.
    return std::min(unpacker_ ? kWindowBytes : kHeadBytes, shard_bytes_ - position_);
  }
  RecordTable take_table() override {
    return scan_ ? scan_->take_table() : feed_ ? feed_->scan().take_table() : RecordTable{};
  }
  const RecordTable& table() const override {
    static const RecordTable kNone;
    return scan_ ? scan_->table() : feed_ ? feed_->scan().table() : kNone;
  }
  bool truncated() const override {
    return scan_ ? scan_->truncated() : feed_ && feed_->scan().truncated();
  }
  bool is_certain() const override {
    return scan_ ? scan_->is_certain() : !feed_ || feed_->scan().is_certain();
  }
  std::uint64_t unpacked_bytes() const override { return feed_ ? feed_->bytes() : 0; }
  Status take(std::span<const std::byte> window) override;

 private:
  static constexpr std::uint64_t kHeadBytes = 512;
  Status unpack(std::span<const std::byte> window);

  const std::uint64_t shard_bytes_;
  const std::uint64_t skip_bytes_;
  const PlainScan plain_;
  std::unique_ptr<ShardScan> scan_;  // of a plain shard, once known
  std::unique_ptr<Unpacker> unpacker_;
  std::unique_ptr<UnpackedFeed> feed_;  // of a compressed shard, once known
  std::vector<std::byte> chunk_;
  std::uint64_t position_ = 0;
};

Status UnpackingScan::take(std::span<const std::byte> window) {
  if (scan_) return scan_->take(window);
  if (!unpacker_) {
    // The first window decides whether the shard is compressed.
    if (compression_of(window).empty()) {
      scan_ = make_checksum_scan(plain_(shard_bytes_), skip_bytes_);
      return scan_->take(window);
    }
    ECHOLINE_ASSIGN(unpacker_, Unpacker::make(window));
    // Every byte is unpacked anyway, so every record gets a checksum.
    feed_ = std::make_unique<UnpackedFeed>(make_checksum_scan(plain_(kEndUnknown), kSkipNothing));
    chunk_.resize(kChunkBytes);
  }
  ECHOLINE_TRY(unpack(window));
  position_ += window.size();
  if (position_ < shard_bytes_) return {};
  // All is read, and the last member or frame has no end.
  if (!unpacker_->complete()) {
    return Status(Code::kDataLoss,
                  "the compressed file is truncated: write it again, or remove it from read.url");
  }
  return feed_->end();
}

Status UnpackingScan::unpack(std::span<const std::byte> window) {
  while (true) {
    ECHOLINE_ASSIGN(const std::size_t bytes, unpacker_->unpack(window, chunk_));
    ECHOLINE_TRY(feed_->add(std::span<const std::byte>(chunk_).first(bytes)));
    // A chunk that is not full means that the window is used up.
    if (bytes < chunk_.size()) return {};
  }
}

}  // namespace

std::unique_ptr<ShardScan> make_unpacking_scan(std::uint64_t shard_bytes, std::uint64_t skip_bytes,
                                               PlainScan plain) {
  return std::make_unique<UnpackingScan>(shard_bytes, skip_bytes, std::move(plain));
}

}  // namespace echoline::record
