// The scan steps from header to header. It does not check the checksums of data; `cut` does.
#include "record/tfrecord/tfrecord.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/crc.h"
#include "record/index/compressed_scan.h"
#include "record/index/compression.h"
#include "record/index/foreign_index.h"
#include "record/index/resumable_scan.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/tfrecord/tf_example.h"

namespace echoline::record {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// TensorFlow masks its checksums, so that data that contains checksums is not its own checksum.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U; }

class TfRecordScan final : public ResumableScan {
 public:
  using ResumableScan::ResumableScan;
  bool done() const override { return position_ == shard_bytes_; }
  std::uint64_t needed() const override {
    return std::min(kTfHeaderBytes, shard_bytes_ - position_);
  }
  bool truncated() const override { return truncated_; }
  void end_at(std::uint64_t bytes) override;
  Status take(std::span<const std::byte> window) override;

 private:
  void add_rest();

  bool truncated_ = false;
};

Status TfRecordScan::take(std::span<const std::byte> window) {
  if (position_ == 0) ECHOLINE_TRY(refuse_compressed(window));
  const std::uint64_t start = position_;
  while (!done()) {
    if (shard_bytes_ - position_ < kTfFrameBytes) {
      add_rest();
      break;
    }
    const std::uint64_t at = position_ - start;
    // The next header is outside of this window.
    if (at > window.size() || window.size() - at < kTfHeaderBytes) return {};
    const auto bytes = tf_record_bytes(window.subspan(at));
    if (!bytes) {
      return Status(
          Code::kDataLoss,
          fmt::format("offset {}: no TFRecord header (its checksum differs); the file is "
                      "damaged or no TFRecord: check read.format, write it again, or remove it "
                      "from read.url",
                      position_));
    }
    if (*bytes > shard_bytes_ - position_ - kTfFrameBytes) {
      add_rest();
      break;
    }
    table_.add(position_, *bytes + kTfFrameBytes, "");
    position_ += *bytes + kTfFrameBytes;
  }
  return {};
}

// The scan of a compressed shard may have stepped beyond its end.
void TfRecordScan::end_at(std::uint64_t bytes) {
  shard_bytes_ = bytes;
  if (position_ <= bytes) return;
  table_.bytes.back() = bytes - table_.offset.back();
  position_ = bytes;
  truncated_ = true;
}

// Adds the incomplete record at the end of a truncated shard.
void TfRecordScan::add_rest() {
  table_.add(position_, shard_bytes_ - position_, "");
  position_ = shard_bytes_;
  truncated_ = true;
}

class TfRecordDataSet final : public TableDataSet {
 public:
  using TableDataSet::TableDataSet;
  std::string_view format() const override { return "tfrecord"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    if (has_foreign_indexes()) ECHOLINE_TRY(check_foreign_index(record, bytes));
    ECHOLINE_ASSIGN(const std::span<const std::byte> data, tf_record_data(bytes));
    return cut_tf_example(data, fields);
  }

 private:
  // That the bytes are one record, no more and no less.
  Status check_foreign_index(std::uint64_t record, std::span<const std::byte> bytes) const {
    const Shard shard = table().shard(table().shard_of(record));
    const auto data = tf_record_bytes(bytes);
    if (shard.foreign_index.empty() || (data && *data == bytes.size() - kTfFrameBytes)) return {};
    return wrong_foreign_index(
        shard, fmt::format("no record of {} bytes at {}", bytes.size(), table().begins_at(record)));
  }
};

}  // namespace

std::optional<std::uint64_t> tf_record_bytes(std::span<const std::byte> header) {
  if (header.size() < kTfHeaderBytes) return std::nullopt;
  if (masked(crc32c(0, header.first(8))) != load<std::uint32_t>(header, 8)) return std::nullopt;
  return load<std::uint64_t>(header, 0);
}

Result<std::span<const std::byte>> tf_record_data(std::span<const std::byte> frame) {
  const auto bytes = tf_record_bytes(frame);
  if (!bytes && frame.size() >= kTfHeaderBytes) {
    return Status(Code::kDataLoss, "the checksum of the record's length differs");
  }
  if (!bytes || frame.size() < kTfFrameBytes || *bytes > frame.size() - kTfFrameBytes) {
    return Status(Code::kDataLoss, "truncated: the file ends within the record");
  }
  const auto data = frame.subspan(kTfHeaderBytes, *bytes);
  if (masked(crc32c(0, data)) != load<std::uint32_t>(frame, kTfHeaderBytes + *bytes)) {
    return Status(Code::kDataLoss, "the checksum of the record's data differs");
  }
  return data;
}

namespace {

std::optional<std::pair<std::uint64_t, std::uint64_t>> two_numbers(std::string_view line) {
  std::uint64_t first = 0, second = 0;
  const char* const end = line.data() + line.size();
  const auto [space, error] = std::from_chars(line.data(), end, first);
  if (error != std::errc() || space == end || *space != ' ') return std::nullopt;
  const auto [stop, wrong] = std::from_chars(space + 1, end, second);
  if (wrong != std::errc() || stop != end) return std::nullopt;
  return std::pair(first, second);
}

// zlib streams have no magic number, but the header of a record has a checksum.
bool is_zlib_file(std::span<const std::byte> head) {
  return may_be_zlib(head) && !tf_record_bytes(head);
}

}  // namespace

Result<RecordTable> parse_tfrecord_index(std::string_view text, std::uint64_t shard_bytes) {
  RecordTable table;
  std::uint64_t end = 0;
  while (!text.empty()) {
    const std::size_t line = std::min(text.find('\n'), text.size());
    const auto numbers = two_numbers(text.substr(0, line));
    text.remove_prefix(std::min(line + 1, text.size()));
    if (!numbers) return Status(Code::kUnimplemented, "it has not a line OFFSET SIZE per record");
    const auto [offset, bytes] = *numbers;
    if (offset != end || bytes < kTfFrameBytes || bytes > shard_bytes - end) {
      return Status(Code::kDataLoss,
                    fmt::format("the record of {} bytes at {} is not behind the one before it, or "
                                "not in the shard of {} bytes",
                                bytes, offset, shard_bytes));
    }
    table.add(offset, bytes, "");
    end += bytes;
  }
  return table;
}

ScanSpec tfrecord_scan_spec() {
  ScanSpec format;
  format.name = "tfrecord";
  format.foreign_index.parse = parse_tfrecord_index;
  format.make_scan = [](const source::ObjectInfo& shard, std::uint64_t skip_bytes) {
    const auto plain = [](std::uint64_t bytes) { return std::make_unique<TfRecordScan>(bytes); };
    return make_unpacking_scan(shard.bytes, skip_bytes, plain, {.is_zlib = is_zlib_file});
  };
  return format;
}

namespace {

// A valid header checksum, and a record that fits the file.
Result<Match> match_tfrecord(const FormatProbe& probe) {
  const auto bytes = tf_record_bytes(probe.head);
  const bool fits =
      bytes && probe.object_bytes >= kTfFrameBytes && *bytes <= probe.object_bytes - kTfFrameBytes;
  return fits ? Match::kContent : Match::kNone;
}

OpenedDataSet open_tfrecord(const OpenRequest& request, std::vector<Listed> listed) {
  const std::vector<source::ObjectInfo> shards = flatten(std::move(listed));
  ECHOLINE_ASSIGN(StoredIndex stored, load_or_build_index(request, shards, tfrecord_scan_spec()));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no records in {} TFRecord files, the first is {}",
                                               shards.size(), shards.front().url));
  }
  return std::unique_ptr<DataSet>(std::make_unique<TfRecordDataSet>(
      std::move(stored), table_options(request.read, request.state_dir)));
}

}  // namespace

constinit const Format kTfRecordFormat = {
    .name = "tfrecord",
    .match = match_tfrecord,
    .open = open_tfrecord,
    .expand = drop_foreign_indexes,
    .reads_compressed = true,
    .is_zlib = is_zlib_file,
    .scans_shards = true,
};

}  // namespace echoline::record
