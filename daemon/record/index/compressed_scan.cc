// The plain scan sees windows of unpacked bytes. It learns the unpacked size only at the end.
#include "record/index/compressed_scan.h"

#include <fmt/core.h>

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
  ShardScan& scan() const { return *scan_; }
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

// Unpacks a shard from its start on, for one feed.
class ShardUnpacking {
 public:
  ShardUnpacking(std::unique_ptr<Unpacker> unpacker, std::unique_ptr<ShardScan> plain)
      : unpacker_(std::move(unpacker)), feed_(std::move(plain)), chunk_(kChunkBytes) {}
  UnpackedFeed& feed() { return feed_; }
  const UnpackedFeed& feed() const { return feed_; }
  bool complete() const { return unpacker_->complete(); }

  Status take(std::span<const std::byte> window) {
    while (true) {
      ECHOLINE_ASSIGN(const std::size_t bytes, unpacker_->unpack(window, chunk_));
      ECHOLINE_TRY(feed_.add(std::span<const std::byte>(chunk_).first(bytes)));
      // A chunk that is not full means that the window is used up.
      if (bytes < chunk_.size()) return {};
    }
  }

 private:
  const std::unique_ptr<Unpacker> unpacker_;
  UnpackedFeed feed_;
  std::vector<std::byte> chunk_;
};

Status truncated_file() {
  return Status(Code::kDataLoss,
                "the compressed file is truncated: write it again, or remove it from read.url");
}

class UnpackingScan final : public ShardScan {
 public:
  UnpackingScan(std::uint64_t shard_bytes, std::uint64_t skip_bytes, PlainScan plain,
                UnpackingRules rules)
      : shard_bytes_(shard_bytes),
        skip_bytes_(skip_bytes),
        plain_(std::move(plain)),
        rules_(rules) {}

  bool done() const override { return scan_ ? scan_->done() : position_ == shard_bytes_; }
  std::uint64_t position() const override { return scan_ ? scan_->position() : position_; }
  std::uint64_t needed() const override {
    if (scan_) return scan_->needed();
    return std::min(unpacking_ ? kWindowBytes : kHeadBytes, shard_bytes_ - position_);
  }
  RecordTable take_table() override { return any() ? any()->take_table() : RecordTable{}; }
  const RecordTable& table() const override {
    static const RecordTable kNone;
    return any() ? any()->table() : kNone;
  }
  bool truncated() const override { return any() && any()->truncated(); }
  bool is_certain() const override { return !any() || any()->is_certain(); }
  std::uint64_t unpacked_bytes() const override {
    return unpacking_ ? unpacking_->feed().bytes() : 0;
  }
  std::uint64_t meta_files() const override { return any() ? any()->meta_files() : 0; }
  Status take(std::span<const std::byte> window) override;
  void set_hopping(bool hopping) override {
    hopping_ = hopping;
    if (scan_) scan_->set_hopping(hopping);
  }
  bool can_hop() const override { return unpacking_ == nullptr; }
  // A compressed shard is unpacked from its start on.
  std::size_t complete() const override { return scan_ ? scan_->complete() : 0; }
  ScanPart part(std::size_t first, std::size_t last) const override {
    return scan_->part(first, last);
  }
  bool restore(const ScanPart& part) override {
    if (!scan_) begin_plain();
    return scan_->restore(part);
  }

 private:
  static constexpr std::uint64_t kHeadBytes = 512;
  bool is_compressed(std::span<const std::byte> head) const {
    return !compression_of(head).empty() || (rules_.is_zlib != nullptr && rules_.is_zlib(head));
  }
  void begin_plain() {
    scan_ = make_checksum_scan(plain_(shard_bytes_), skip_bytes_);
    scan_->set_hopping(hopping_);
  }
  // The plain scan, of plain or of unpacked bytes; null before the first window.
  ShardScan* any() const {
    return scan_ ? scan_.get() : unpacking_ ? &unpacking_->feed().scan() : nullptr;
  }

  const std::uint64_t shard_bytes_;
  const std::uint64_t skip_bytes_;
  const PlainScan plain_;
  const UnpackingRules rules_;
  std::unique_ptr<ShardScan> scan_;            // of a plain shard, once known
  std::unique_ptr<ShardUnpacking> unpacking_;  // of a compressed shard, once known
  std::uint64_t position_ = 0;
  bool hopping_ = false;
};

Status UnpackingScan::take(std::span<const std::byte> window) {
  if (scan_) return scan_->take(window);
  if (!unpacking_) {
    // The first window decides whether the shard is compressed.
    if (!is_compressed(window)) {
      begin_plain();
      return scan_->take(window);
    }
    ECHOLINE_ASSIGN(std::unique_ptr<Unpacker> unpacker, Unpacker::make(window));
    unpacking_ = std::make_unique<ShardUnpacking>(
        std::move(unpacker), make_checksum_scan(plain_(kEndUnknown), kSkipNothing));
  }
  ECHOLINE_TRY(unpacking_->take(window));
  position_ += window.size();
  if (position_ < shard_bytes_) return {};
  if (!unpacking_->complete()) return truncated_file();
  return unpacking_->feed().end();
}

class KnownUnpackingScan final : public ShardScan {
 public:
  KnownUnpackingScan(std::uint64_t shard_bytes, std::uint64_t skip_bytes, UnpackedForm form,
                     std::unique_ptr<ShardScan> plain)
      : shard_bytes_(shard_bytes),
        form_(form),
        scan_to_end_(skip_bytes > 0),
        plain_(make_checksum_scan(std::move(plain), scan_to_end_ ? kSkipNothing : 0)),
        scan_(plain_.get()) {}

  bool done() const override { return scan_to_end_ ? position_ == shard_bytes_ : scan_->done(); }
  std::uint64_t position() const override { return position_; }
  std::uint64_t needed() const override {
    return std::min(scan_to_end_ ? kWindowBytes : kTableWindowBytes, shard_bytes_ - position_);
  }
  RecordTable take_table() override { return scan_->take_table(); }
  const RecordTable& table() const override { return scan_->table(); }
  bool truncated() const override { return scan_->truncated(); }
  bool is_certain() const override { return scan_->is_certain(); }
  std::uint64_t unpacked_bytes() const override { return form_.bytes; }
  std::uint64_t meta_files() const override { return scan_->meta_files(); }
  bool can_hop() const override { return false; }
  Status take(std::span<const std::byte> window) override;

 private:
  static constexpr std::uint64_t kTableWindowBytes = 64 << 10;
  Status other_size() const;

  const std::uint64_t shard_bytes_;
  const UnpackedForm form_;
  const bool scan_to_end_;
  std::unique_ptr<ShardScan> plain_;  // until the unpacking owns it
  ShardScan* const scan_;
  std::unique_ptr<ShardUnpacking> unpacking_;
  std::uint64_t position_ = 0;
};

Status KnownUnpackingScan::other_size() const {
  const std::uint64_t bytes = unpacking_->feed().bytes();
  return Status(
      Code::kDataLoss,
      fmt::format("it unpacks to {} the {} bytes that the index of its data set says: "
                  "copy the data set again",
                  bytes > form_.bytes ? "more than" : fmt::format("{} of", bytes), form_.bytes));
}

Status KnownUnpackingScan::take(std::span<const std::byte> window) {
  if (!unpacking_) {
    ECHOLINE_ASSIGN(std::unique_ptr<Unpacker> unpacker, Unpacker::make(window, form_.compression));
    unpacking_ = std::make_unique<ShardUnpacking>(std::move(unpacker), std::move(plain_));
  }
  ECHOLINE_TRY(unpacking_->take(window));
  position_ += window.size();
  if (unpacking_->feed().bytes() > form_.bytes) return other_size();
  if (done() && !scan_to_end_) return {};
  if (position_ < shard_bytes_) return {};
  if (!unpacking_->complete()) return truncated_file();
  if (unpacking_->feed().bytes() != form_.bytes) return other_size();
  return unpacking_->feed().end();
}

}  // namespace

std::unique_ptr<ShardScan> make_unpacking_scan(std::uint64_t shard_bytes, std::uint64_t skip_bytes,
                                               PlainScan plain, UnpackingRules rules) {
  return std::make_unique<UnpackingScan>(shard_bytes, skip_bytes, std::move(plain), rules);
}

std::unique_ptr<ShardScan> make_known_unpacking_scan(std::uint64_t shard_bytes,
                                                     std::uint64_t skip_bytes, UnpackedForm form,
                                                     PlainScan plain) {
  return std::make_unique<KnownUnpackingScan>(shard_bytes, skip_bytes, form, plain(form.bytes));
}

}  // namespace echoline::record
