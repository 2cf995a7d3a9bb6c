// Arbitrary bytes as a Parquet file: refused, or rows with the sizes that the scan found, whose
// fields can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "record/index/table_index.h"
#include "record/parquet/footer.h"
#include "record/parquet/footers.h"
#include "record/parquet/group_unpacker.h"
#include "record/parquet/parquet_scan.h"
#include "record/parquet/row_layout.h"

namespace {

using namespace echoline::record;
using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kGroupBytesMax = 32 << 10;

std::shared_ptr<const ParquetFile> file_of(Bytes bytes) {
  const auto footer =
      footer_bytes(bytes.last(std::min<std::size_t>(bytes.size(), 8)), bytes.size());
  if (!footer.ok()) return nullptr;
  auto file =
      make_parquet_file(bytes.last(*footer + kParquetTailBytes).first(*footer), bytes.size(), {});
  return file.ok() ? std::make_shared<const ParquetFile>(std::move(*file)) : nullptr;
}

bool scan_rows(const ParquetFile& file, Bytes bytes, StoredIndex& stored) {
  const auto scan = make_parquet_scan(file, kGroupBytesMax);
  while (!scan->done()) {
    const Bytes rest = bytes.subspan(scan->position());
    const std::uint64_t needed = std::max<std::uint64_t>(scan->needed(), 64);
    if (!scan->take(rest.first(std::min<std::size_t>(rest.size(), needed))).ok()) return false;
  }
  Shard shard;
  shard.object = {"fuzz", bytes.size(), ""};
  shard.unpacked_bytes = scan->unpacked_bytes();
  stored.records = scan->take_table();
  shard.record_count = stored.records.size();
  stored.shards.push_back(std::move(shard));
  return true;
}

// Pieces of 100 bytes, as a store would send them.
void unpack(const UnpackedPart& part, Bytes bytes, ContentFile& content) {
  const auto unpacker = part.make_unpacker();
  for (const ByteRange& range : part.ranges) {
    for (std::uint64_t at = 0; at < range.bytes; at += 100) {
      const std::uint64_t count = std::min<std::uint64_t>(100, range.bytes - at);
      const bool last = &range == &part.ranges.back() && at + count == range.bytes;
      const auto made = unpacker->take(bytes.subspan(range.offset + at, count), last, content);
      // The scan has read the same bytes.
      if (!made.ok() || *made != (last ? part.form.bytes : 0)) std::abort();
    }
  }
}

void cut_rows(const ParquetFile& file, const TableIndex& index, const UnpackedPart& part,
              const ContentFile& content, std::uint64_t& record) {
  std::vector<std::byte> row;
  Fields fields;
  for (std::uint64_t at = 0; at < part.form.bytes; ++record) {
    row.resize(index.extent(record).bytes);
    if (!content.read(at, row).ok() || !cut_row(*file.columns, row, fields).ok()) std::abort();
    at += row.size();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = file_of(bytes);
  StoredIndex stored;
  if (file == nullptr || !scan_rows(*file, bytes, stored)) return 0;
  const auto index = std::make_shared<const TableIndex>(std::move(stored), true);
  std::uint64_t record = 0;
  for (const UnpackedPart& part : parquet_parts(file, index, 0, 300)) {
    auto content = ContentFile::create("/dev/shm");
    if (!content.ok()) return 0;
    unpack(part, bytes, *content);
    cut_rows(*file, *index, part, *content, record);
  }
  if (record != index->record_count()) std::abort();
  return 0;
}
