// The memory stays at one page, and its bytes as stored; the rows are in a mapped file.
#include "record/parquet/group_unpacker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "record/parquet/row_layout.h"

namespace echoline::record {
namespace {

// Row groups that follow each other, and their records.
struct GroupSpan {
  std::size_t first_group = 0;
  std::size_t groups = 0;
  std::uint64_t first_record = 0;
  std::uint64_t content_begin = 0;  // in the unpacked bytes of the file
  std::uint64_t content_bytes = 0;
};

class GroupUnpacker final : public PartUnpacker {
 public:
  GroupUnpacker(std::shared_ptr<const ParquetFile> file, std::shared_ptr<const TableIndex> index,
                GroupSpan span)
      : file_(std::move(file)),
        index_(std::move(index)),
        span_(span),
        group_(span.first_group),
        record_(span.first_record) {}
  Result<std::uint64_t> take(std::span<const std::byte> piece, bool last,
                             ContentFile& content) override;

 private:
  // Returns how many bytes were used.
  Result<std::size_t> use(std::span<const std::byte> bytes);
  // Starts the next row group that has rows, if there is one.
  void begin_group();

  const std::shared_ptr<const ParquetFile> file_;
  const std::shared_ptr<const TableIndex> index_;
  const GroupSpan span_;
  std::size_t group_;  // the next one
  std::uint64_t record_;
  std::uint64_t content_at_ = 0;  // where the next row group begins
  std::span<std::byte> mapped_;
  std::optional<RowPlaces> places_;
  std::optional<GroupReader> reader_;
  std::vector<std::byte> held_;  // the start of a page
};

Result<std::uint64_t> GroupUnpacker::take(std::span<const std::byte> piece, bool last,
                                          ContentFile& content) {
  if (mapped_.empty()) {
    ECHOLINE_ASSIGN(mapped_, content.map(span_.content_bytes));
    begin_group();
  }
  // The common case: pages within a piece are used without a copy.
  if (held_.empty()) {
    ECHOLINE_ASSIGN(const std::size_t used, use(piece));
    if (reader_ && used < piece.size()) held_.reserve(reader_->needed() + piece.size());
    held_.assign(piece.begin() + static_cast<std::ptrdiff_t>(used), piece.end());
  } else {
    held_.insert(held_.end(), piece.begin(), piece.end());
    ECHOLINE_ASSIGN(const std::size_t used, use(held_));
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(used));
  }
  if (!last) return std::uint64_t{0};
  if (reader_ || !held_.empty()) return Status(Code::kDataLoss, "its pages end too early");
  content.unmap();
  held_ = {};
  return span_.content_bytes;
}

Result<std::size_t> GroupUnpacker::use(std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (reader_ && bytes.size() - used >= reader_->needed()) {
    ECHOLINE_ASSIGN(const std::uint64_t taken, reader_->take(bytes.subspan(used)));
    used += taken;
    if (!reader_->done()) continue;
    ECHOLINE_TRY(places_->end());
    begin_group();
  }
  return used;
}

void GroupUnpacker::begin_group() {
  reader_.reset();
  const std::size_t end = span_.first_group + span_.groups;
  while (group_ < end && file_->groups[group_].rows == 0) ++group_;
  if (group_ == end) return;
  const std::uint64_t rows = file_->groups[group_].rows;
  // By the sizes alone, whose sum is that of the mapped file: an index may be hostile.
  std::vector<std::uint64_t> offsets = {content_at_};
  for (std::uint64_t row = 0; row < rows; ++row) {
    content_at_ += index_->stored().records.bytes[record_++];
    offsets.push_back(content_at_);
  }
  places_.emplace(mapped_, std::move(offsets));
  reader_.emplace(*file_, group_++, *places_);
}

void add_ranges(const RowGroup& group, std::vector<ByteRange>& ranges) {
  if (group.rows == 0) return;
  for (const ColumnChunk& column : group.columns) {
    // Columns mostly follow each other, so that they are read together.
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == column.offset) {
      ranges.back().bytes += column.bytes;
    } else {
      ranges.push_back({column.offset, column.bytes});
    }
  }
}

}  // namespace

std::vector<UnpackedPart> parquet_parts(std::shared_ptr<const ParquetFile> file,
                                        std::shared_ptr<const TableIndex> index, std::size_t shard,
                                        std::uint64_t part_bytes) {
  std::vector<UnpackedPart> parts;
  const Shard in_index = index->shard(shard);
  GroupSpan span;
  span.first_record = in_index.first_record;
  for (std::size_t group = 0; group < file->groups.size();) {
    UnpackedPart part;
    std::uint64_t rows = 0;
    for (; group < file->groups.size() && span.content_bytes < part_bytes; ++group) {
      const std::uint64_t more = file->groups[group].rows;
      for (std::uint64_t row = 0; row < more; ++row) {
        span.content_bytes += index->stored().records.bytes[span.first_record + rows + row];
      }
      rows += more;
      ++span.groups;
      add_ranges(file->groups[group], part.ranges);
    }
    if (span.content_bytes == 0) break;  // no more rows
    part.begin = span.content_begin;
    part.form.bytes = span.content_bytes;
    part.make_unpacker = [file, index, span] {
      return std::make_unique<GroupUnpacker>(file, index, span);
    };
    parts.push_back(std::move(part));
    span = {group, 0, span.first_record + rows, span.content_begin + span.content_bytes, 0};
  }
  return parts;
}

}  // namespace echoline::record
