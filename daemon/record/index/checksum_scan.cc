// The plain scan goes first: after it has taken a window, all records that begin or end in it are
// known. Then the checksums are computed record by record.
#include "record/index/checksum_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/crc.h"

namespace echoline::record {
namespace {

// Computes checksums of records while the bytes of their shard pass.
class RecordSums {
 public:
  std::uint64_t passed() const { return passed_; }
  void pass(const RecordTable& table, std::span<const std::byte> bytes);
  void skip_to(std::uint64_t offset) { passed_ = seen_from_ = offset; }
  std::vector<std::uint32_t> take() { return std::move(sums_); }
  // Records before this one have their final sum.
  std::size_t complete() const { return record_; }
  std::vector<std::uint32_t> part(std::size_t first, std::size_t last) const {
    const auto begin = sums_.begin();
    return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
  }
  void restore(const ScanPart& part);

 private:
  // Advances to an offset, or as far as there are bytes.
  void step(std::uint64_t offset, std::span<const std::byte>& bytes);

  std::vector<std::uint32_t> sums_;  // 0: not known
  std::size_t record_ = 0;           // the current one
  std::uint32_t crc_ = 0;            // of its bytes so far
  std::uint64_t passed_ = 0;
  std::uint64_t seen_from_ = 0;  // no bytes were skipped between here and `passed_`
};

void RecordSums::pass(const RecordTable& table, std::span<const std::byte> bytes) {
  sums_.resize(table.size());
  for (; record_ < table.size(); ++record_) {
    const std::uint64_t begin = table.offset[record_], end = begin + table.bytes[record_];
    // The record begins here or later: go to its begin, and start a new sum there.
    if (passed_ <= begin) {
      step(begin, bytes);
      if (passed_ < begin) return;
      crc_ = 0;
    }
    step(end, bytes);
    // Known only if no byte of the record was skipped.
    if (passed_ <= end) sums_[record_] = passed_ == end && seen_from_ <= begin ? crc_ : 0;
    if (passed_ < end) return;
    if (record_ + 1 == table.size()) break;  // the next window may still extend it
  }
  // Bytes behind the last record, such as padding.
  step(passed_ + bytes.size(), bytes);
}

void RecordSums::restore(const ScanPart& part) {
  const std::vector<std::uint32_t>& sums = part.records.checksum;
  sums_.insert(sums_.end(), sums.begin(), sums.end());
  record_ += part.records.size();
  sums_.resize(record_);
  skip_to(part.end);
}

void RecordSums::step(std::uint64_t offset, std::span<const std::byte>& bytes) {
  if (offset <= passed_) return;
  const std::size_t count = std::min<std::uint64_t>(bytes.size(), offset - passed_);
  crc_ = crc32c(crc_, bytes.first(count));
  passed_ += count;
  bytes = bytes.subspan(count);
}

class ChecksumScan final : public ShardScan {
 public:
  ChecksumScan(std::unique_ptr<ShardScan> plain, std::uint64_t skip_bytes)
      : plain_(std::move(plain)), skip_bytes_(skip_bytes) {}

  bool done() const override { return plain_->done() && position() == goal(); }
  std::uint64_t position() const override {
    // Far away: skip to it. Else the bytes between are read for their checksums.
    return goal() - sums_.passed() > (hopping_ ? 0 : skip_bytes_) ? goal() : sums_.passed();
  }
  std::uint64_t needed() const override { return position() == goal() ? plain_->needed() : 1; }
  Status take(std::span<const std::byte> window) override;
  RecordTable take_table() override;
  const RecordTable& table() const override { return plain_->table(); }
  bool truncated() const override { return plain_->truncated(); }
  bool is_certain() const override { return plain_->is_certain(); }
  std::uint64_t meta_files() const override { return plain_->meta_files(); }
  void end_at(std::uint64_t bytes) override;
  void set_hopping(bool hopping) override { hopping_ = hopping; }
  std::size_t complete() const override { return std::min(plain_->complete(), sums_.complete()); }
  ScanPart part(std::size_t first, std::size_t last) const override;
  bool restore(const ScanPart& part) override;

 private:
  std::uint64_t goal() const;

  const std::unique_ptr<ShardScan> plain_;
  const std::uint64_t skip_bytes_;
  bool hopping_ = false;
  RecordSums sums_;
};

// The next position of the plain scan; when that is done, the end of the last record.
std::uint64_t ChecksumScan::goal() const {
  if (!plain_->done()) return plain_->position();
  const RecordTable& records = plain_->table();
  if (records.size() == 0) return sums_.passed();
  return std::max(sums_.passed(), records.offset.back() + records.bytes.back());
}

Status ChecksumScan::take(std::span<const std::byte> window) {
  const std::uint64_t begin = position();
  // The owner skipped to the next header: the bytes between are not seen.
  if (begin > sums_.passed()) sums_.skip_to(begin);
  if (!plain_->done() && plain_->position() - begin <= window.size()) {
    ECHOLINE_TRY(plain_->take(window.subspan(plain_->position() - begin)));
  }
  // No further than the plain scan knows: bytes behind may belong to a record that it has not found
  // yet.
  const std::uint64_t known = std::min<std::uint64_t>(window.size(), goal() - begin);
  sums_.pass(plain_->table(), window.first(known));
  return {};
}

void ChecksumScan::end_at(std::uint64_t bytes) {
  plain_->end_at(bytes);
  // The last record may have been cut to this end, so its sum is complete now.
  sums_.pass(plain_->table(), {});
}

ScanPart ChecksumScan::part(std::size_t first, std::size_t last) const {
  ScanPart part = plain_->part(first, last);
  part.records.checksum = sums_.part(first, last);
  return part;
}

bool ChecksumScan::restore(const ScanPart& part) {
  sums_.restore(part);
  return plain_->restore(part);
}

RecordTable ChecksumScan::take_table() {
  RecordTable table = plain_->take_table();
  std::vector<std::uint32_t> sums = sums_.take();
  sums.resize(table.size());
  // The checksum of a record covers all of its bytes, and its parts are elsewhere in the shard.
  for (const RecordPart& part : table.parts) sums[part.record] = 0;
  // Without any checksum the older file layout suffices.
  const bool known = std::any_of(sums.begin(), sums.end(), [](auto sum) { return sum != 0; });
  if (known) table.checksum = std::move(sums);
  return table;
}

}  // namespace

std::unique_ptr<ShardScan> make_checksum_scan(std::unique_ptr<ShardScan> plain,
                                              std::uint64_t skip_bytes) {
  if (skip_bytes == 0) return plain;
  return std::make_unique<ChecksumScan>(std::move(plain), skip_bytes);
}

}  // namespace echoline::record
