// The record of a line grows with each window until the line ends, as ShardScan::table says.
#include "record/lines/line_scan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "record/core/text.h"
#include "record/index/compressed_scan.h"
#include "record/index/compression.h"
#include "record/index/resumable_scan.h"

namespace echoline::record {
namespace {

constexpr std::string_view kBlanks = " \t\r";

class LineScan final : public ResumableScan {
 public:
  using ResumableScan::ResumableScan;
  bool done() const override { return position_ == shard_bytes_; }
  std::uint64_t needed() const override {
    return std::min<std::uint64_t>(1, shard_bytes_ - position_);
  }
  bool truncated() const override { return false; }
  // Nothing in a text says that it is damaged.
  bool is_certain() const override { return false; }
  bool can_hop() const override { return false; }
  void end_at(std::uint64_t bytes) override { shard_bytes_ = bytes; }
  Status take(std::span<const std::byte> window) override;

 private:
  void take_piece(std::string_view piece);

  bool in_record_ = false;  // the last record goes on at position_
};

Status LineScan::take(std::span<const std::byte> window) {
  if (position_ == 0) ECHOLINE_TRY(refuse_compressed(window));
  std::string_view text = as_text(window);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take_piece(text.substr(0, end));
    if (end == std::string_view::npos) break;
    in_record_ = false;
    ++position_;
    text.remove_prefix(end + 1);
  }
  return {};
}

// A line, or a part of one.
void LineScan::take_piece(std::string_view piece) {
  if (in_record_) {
    table_.bytes.back() += piece.size();
  } else if (const std::size_t begin = piece.find_first_not_of(kBlanks);
             begin != std::string_view::npos) {
    table_.add(position_ + begin, piece.size() - begin, "");
    in_record_ = true;
  }
  position_ += piece.size();
}

}  // namespace

std::unique_ptr<ShardScan> make_line_scan(std::uint64_t shard_bytes) {
  return std::make_unique<LineScan>(shard_bytes);
}

ScanSpec line_scan_spec(std::string_view name) {
  ScanSpec spec;
  spec.name = name;
  spec.make_scan = [](const source::ObjectInfo& shard, std::uint64_t skip_bytes) {
    return make_unpacking_scan(shard.bytes, skip_bytes, make_line_scan);
  };
  return spec;
}

}  // namespace echoline::record
