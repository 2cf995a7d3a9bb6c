#include "record/megatron/sequence_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/crc.h"
#include "base/part_starts.h"
#include "record/core/fields.h"
#include "record/index/listing.h"

namespace echoline::record {
namespace {

constexpr std::string_view kTokens = "tokens";

class SequenceIndex final : public Index {
 public:
  explicit SequenceIndex(std::vector<MegatronFile> files) : files_(std::move(files)) {
    for (const MegatronFile& file : files_) {
      const std::vector<std::uint64_t>& begin = file.sequences.begin;
      first_.add(begin.size() - 1);
      bytes_total_ += file.tokens() * file.type.bytes;
      for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
        bytes_max_ = std::max(bytes_max_, (begin[i + 1] - begin[i]) * file.type.bytes);
      }
    }
  }

  std::uint64_t record_count() const override { return first_.total(); }
  std::size_t shard_count() const override { return files_.size(); }
  Shard shard(std::size_t file) const override {
    return {files_[file].object, first_.of(file), first_.count(file)};
  }
  Extent extent(std::uint64_t record) const override {
    const std::size_t file = first_.part_of(record);
    const std::uint64_t* begin = &files_[file].sequences.begin[record - first_.of(file)];
    const std::uint64_t each = files_[file].type.bytes;
    return {static_cast<std::uint32_t>(file), begin[0] * each, (begin[1] - begin[0]) * each};
  }
  std::string key(std::uint64_t record) const override {
    const std::size_t file = first_.part_of(record);
    return fmt::format("{}:{}", base_name(files_[file].object.url), record - first_.of(file));
  }
  std::uint64_t tokens(std::uint64_t record) const override {
    const std::size_t file = first_.part_of(record);
    const std::uint64_t* begin = &files_[file].sequences.begin[record - first_.of(file)];
    return begin[1] - begin[0];
  }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }
  const std::vector<MegatronFile>& files() const { return files_; }

 private:
  const std::vector<MegatronFile> files_;
  PartStarts first_;  // record of each file
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

class SequenceDataSet final : public DataSet {
 public:
  explicit SequenceDataSet(std::vector<MegatronFile> files) : index_(std::move(files)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "megatron"; }
  // The files are little-endian: the record itself is the field.
  Status cut(std::uint64_t, std::span<const std::byte> bytes, Fields& fields) const override {
    clear_fields(fields);
    fields.fields.push_back({kTokens, bytes});
    return {};
  }
  Status check_field(std::string_view key, std::string_view as) const override {
    if (key != kTokens) return {};
    for (const MegatronFile& file : index_.files()) {
      ECHOLINE_TRY(check_element_type(file.type, file.object.url, as));
    }
    return {};
  }
  std::string metadata_text() const override { return lengths_text(index_.files()); }

 private:
  const SequenceIndex index_;
};

}  // namespace

std::unique_ptr<DataSet> make_sequence_set(std::vector<MegatronFile> files) {
  return std::make_unique<SequenceDataSet>(std::move(files));
}

std::string lengths_text(const std::vector<MegatronFile>& files) {
  std::uint32_t checksum = 0;
  for (const MegatronFile& file : files) {
    const std::uint32_t of_file[] = {file.sequences.checksum, file.type.bytes};
    checksum = crc32c(checksum, std::as_bytes(std::span(of_file)));
  }
  return fmt::format("\nlengths {:08x}", checksum);
}

}  // namespace echoline::record
