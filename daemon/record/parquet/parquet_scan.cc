// Pages are read in the order of the columns, whose places in the file may be in any order.
#include "record/parquet/parquet_scan.h"

#include <optional>
#include <utility>

#include "record/parquet/row_layout.h"

namespace echoline::record {
namespace {

class ParquetScan final : public ShardScan {
 public:
  ParquetScan(const ParquetFile& file, std::uint64_t group_bytes_max)
      : file_(file), group_bytes_max_(group_bytes_max) {
    begin_group();
  }
  bool done() const override { return !reader_; }
  std::uint64_t position() const override { return reader_ ? reader_->position() : end_; }
  std::uint64_t needed() const override { return reader_ ? reader_->needed() : 0; }
  Status take(std::span<const std::byte> window) override;
  RecordTable take_table() override { return std::move(table_); }
  const RecordTable& table() const override { return table_; }
  bool truncated() const override { return false; }
  // Not every page has a checksum, and its header has none.
  bool is_certain() const override { return false; }
  bool can_hop() const override { return false; }
  std::uint64_t unpacked_bytes() const override { return unpacked_; }

 private:
  void begin_group();
  void end_group();

  const ParquetFile& file_;
  const std::uint64_t group_bytes_max_;
  std::size_t group_ = 0;  // the next one
  std::optional<RowSizes> sizes_;
  std::optional<GroupReader> reader_;
  std::uint64_t end_ = 0;
  std::uint64_t unpacked_ = 0;
  RecordTable table_;
};

void ParquetScan::begin_group() {
  reader_.reset();
  while (group_ < file_.groups.size() && file_.groups[group_].rows == 0) ++group_;
  if (group_ == file_.groups.size()) return;
  sizes_.emplace(group_bytes_max_);
  reader_.emplace(file_, group_++, *sizes_);
}

void ParquetScan::end_group() {
  end_ = reader_->position();
  for (const std::uint64_t bytes : sizes_->bytes()) {
    table_.add(unpacked_, bytes, "");
    unpacked_ += bytes;
  }
  const auto& checksums = sizes_->checksums();
  table_.checksum.resize(table_.size() - checksums.size());
  table_.checksum.insert(table_.checksum.end(), checksums.begin(), checksums.end());
}

Status ParquetScan::take(std::span<const std::byte> window) {
  const std::uint64_t start = position();
  while (reader_) {
    const std::uint64_t at = position() - start;  // wraps for a column that lies before the window
    if (at >= window.size()) break;
    ECHOLINE_ASSIGN(const std::uint64_t taken, reader_->take(window.subspan(at)));
    if (taken == 0) break;
    if (!reader_->done()) continue;
    end_group();
    begin_group();
  }
  return {};
}

}  // namespace

std::unique_ptr<ShardScan> make_parquet_scan(const ParquetFile& file,
                                             std::uint64_t group_bytes_max) {
  return std::make_unique<ParquetScan>(file, group_bytes_max);
}

}  // namespace echoline::record
