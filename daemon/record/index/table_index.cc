// The index is the stored form; the shard of a record is found by binary search.
#include "record/index/table_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/index/gathering_source.h"
#include "record/index/listing.h"
#include "record/index/sidecar_index.h"

namespace echoline::record {

TableIndex::TableIndex(StoredIndex stored, bool use_checksums)
    : stored_(std::move(stored)),
      use_checksums_(use_checksums && !stored_.records.checksum.empty()),
      has_foreign_indexes_(
          std::any_of(stored_.shards.begin(), stored_.shards.end(),
                      [](const Shard& shard) { return !shard.foreign_index.empty(); })),
      gathered_(std::make_shared<const GatheredRecords>(stored_)) {
  for (const std::uint64_t bytes : stored_.records.bytes) {
    bytes_max_ = std::max(bytes_max_, bytes);
    bytes_total_ += bytes;
  }
  for (const RecordPart& part : stored_.records.parts) {
    bytes_max_ = std::max(bytes_max_, gathered_->find(part.record)->bytes);
    bytes_total_ += part.bytes;
  }
}

// The last shard that starts at or before the record. A shard without records starts where the next
// one does.
std::size_t TableIndex::shard_of(std::uint64_t record) const {
  const auto after = std::upper_bound(
      stored_.shards.begin(), stored_.shards.end(), record,
      [](std::uint64_t wanted, const Shard& shard) { return wanted < shard.first_record; });
  return static_cast<std::size_t>(after - stored_.shards.begin()) - 1;
}

Extent TableIndex::extent(std::uint64_t record) const {
  if (const Extent* gathered = gathered_->find(record)) return *gathered;
  return {static_cast<std::uint32_t>(shard_of(record)), stored_.records.offset[record],
          stored_.records.bytes[record]};
}

std::string TableIndex::key(std::uint64_t record) const {
  const std::string_view key = stored_key(record);
  // Formats without keys count their records.
  if (!key.empty()) return std::string(key);
  const Shard& shard = stored_.shards[shard_of(record)];
  return fmt::format("{}:{}", base_name(shard.object.url), record - shard.first_record);
}

std::uint64_t TableIndex::meta_files() const {
  return std::accumulate(
      stored_.shards.begin(), stored_.shards.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Shard& shard) { return sum + shard.meta_files; });
}

std::uint32_t TableIndex::checksum(std::uint64_t record) const {
  return use_checksums_ ? stored_.records.checksum[record] : 0;
}

TableOptions table_options(const v1::Read& read, const std::string& state_dir) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 30;
  TableOptions options;
  options.use_checksums = read.checksums() != "none";
  // Without a state folder: the disk for temporary files.
  std::error_code error;
  options.unpacking.folder = state_dir.empty()
                                 ? std::filesystem::temp_directory_path(error).string()
                                 : state_dir + "/unpacked";
  options.unpacking.bytes_max = read.unpack() == 0 ? kBytesMax : read.unpack();
  return options;
}

TableDataSet::TableDataSet(StoredIndex stored, TableOptions options)
    : index_(std::make_shared<const TableIndex>(std::move(stored), options.use_checksums)),
      unpacking_(std::move(options.unpacking)) {
  for (const Shard& shard : index_->stored().shards) {
    if (shard.unpacked_bytes == 0) continue;
    const auto named = options.compression.find(shard.object.url);
    const bool known = named != options.compression.end();
    // One part, also of an address that is listed twice.
    std::vector<UnpackedPart>& parts = parts_[shard.object.url];
    parts.resize(1);
    parts[0].form = {shard.unpacked_bytes, known ? named->second : Compression::kByContent};
  }
}

std::unique_ptr<source::Source> TableDataSet::reading(
    std::unique_ptr<source::Source> source) const {
  if (!parts_.empty()) {
    source = std::make_unique<UnpackingSource>(std::move(source), parts_, unpacking_);
  }
  if (index_->gathered()->empty()) return source;
  return std::make_unique<GatheringSource>(std::move(source), index_->gathered());
}

Result<std::uint64_t> TableDataSet::publish(source::Source& source) const {
  // Published files are believed, and what a foreign index says was not compared with the data.
  if (has_foreign_indexes()) {
    return Status(Code::kFailedPrecondition, "the index is from index files of another program");
  }
  return publish_sidecars(index_->stored(), source);
}

}  // namespace echoline::record
