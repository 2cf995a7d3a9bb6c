#include "record/megatron/packed_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/part_starts.h"
#include "echoline/v1/config.pb.h"
#include "record/index/gathering_source.h"
#include "record/index/listing.h"
#include "record/megatron/packed_row.h"
#include "record/megatron/row_layout.h"
#include "record/megatron/sequence_set.h"

namespace echoline::record {
namespace {

struct PackedFile {
  MegatronFile file;
  std::uint32_t length = 0;
  std::unique_ptr<RowLayout> layout;  // of `file`, which must not move

  std::uint64_t each() const { return file.type.bytes; }
  std::uint64_t bytes() const { return file.tokens() * each(); }
  std::uint64_t row_bytes() const { return length * each(); }
};

using PackedFiles = std::vector<std::unique_ptr<const PackedFile>>;

class PackedIndex final : public Index {
 public:
  explicit PackedIndex(PackedFiles files) : files_(std::move(files)) {
    for (const auto& file : files_) {
      first_.add(file->layout->rows());
      bytes_total_ += file->bytes();
      bytes_max_ = std::max(bytes_max_, std::min(file->row_bytes(), file->bytes()));
    }
  }

  std::uint64_t record_count() const override { return first_.total(); }
  std::size_t shard_count() const override { return files_.size(); }
  Shard shard(std::size_t file) const override {
    return {files_[file]->file.object, first_.of(file), first_.count(file)};
  }
  // Rows whose pieces are no range of their file are beyond its end, one after the other, each with
  // room for a full one.
  Extent extent(std::uint64_t record) const override {
    const auto [number, row] = place_of(record);
    const PackedFile& file = *files_[number];
    const std::vector<Piece> pieces = file.layout->pieces(row);
    Extent extent{static_cast<std::uint32_t>(number), pieces.front().begin * file.each(), 0};
    if (!file.layout->in_order()) extent.offset = file.bytes() + row * file.row_bytes();
    for (const Piece& piece : pieces) extent.bytes += piece.tokens * file.each();
    return extent;
  }
  std::uint64_t begins_at(std::uint64_t record) const override {
    const auto [number, row] = place_of(record);
    return files_[number]->layout->pieces(row).front().begin * files_[number]->each();
  }
  std::string key(std::uint64_t record) const override {
    const auto [number, row] = place_of(record);
    return fmt::format("{}:{}", base_name(files_[number]->file.object.url), row);
  }
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

  // The file of a record, and its row there.
  std::pair<std::size_t, std::uint64_t> place_of(std::uint64_t record) const {
    const std::size_t file = first_.part_of(record);
    return {file, record - first_.of(file)};
  }
  const PackedFiles& files() const { return files_; }

 private:
  const PackedFiles files_;
  PartStarts first_;  // record of each file
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

// Finds the pieces of the rows beyond the ends of files.
class PackedParts final : public GatheredParts {
 public:
  explicit PackedParts(std::shared_ptr<const PackedIndex> index) : index_(std::move(index)) {
    for (const auto& file : index_->files()) files_.emplace(file->file.object.url, file.get());
  }

  std::vector<ByteRange> parts_at(const std::string& url, std::uint64_t offset) const override {
    const auto found = files_.find(url);
    if (found == files_.end() || offset < found->second->bytes()) return {};
    const PackedFile& file = *found->second;
    std::vector<ByteRange> parts;
    for (const Piece& piece : file.layout->pieces((offset - file.bytes()) / file.row_bytes())) {
      const ByteRange part{piece.begin * file.each(), piece.tokens * file.each()};
      // Neighbours are one read.
      if (!parts.empty() && parts.back().offset + parts.back().bytes == part.offset) {
        parts.back().bytes += part.bytes;
      } else {
        parts.push_back(part);
      }
    }
    return parts;
  }

 private:
  const std::shared_ptr<const PackedIndex> index_;
  std::unordered_map<std::string, const PackedFile*> files_;  // of index_
};

class PackedDataSet final : public DataSet {
 public:
  PackedDataSet(const v1::Pack& pack, PackedFiles files, std::string metadata)
      : form_{static_cast<std::uint32_t>(pack.length()), static_cast<std::int32_t>(pack.padding())},
        metadata_(std::move(metadata)),
        index_(std::make_shared<const PackedIndex>(std::move(files))) {}

  const Index& index() const override { return *index_; }
  std::string_view format() const override { return "megatron"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes,
             Fields& fields) const override {
    const auto [number, row] = index_->place_of(record);
    const PackedFile& file = *index_->files()[number];
    return fill_packed_row(form_, file.file.type, file.layout->pieces(row), bytes, fields);
  }
  std::string metadata_text() const override { return metadata_; }
  std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const override {
    if (index_->files().front()->layout->in_order()) return source;
    return std::make_unique<GatheringSource>(std::move(source),
                                             std::make_shared<const PackedParts>(index_));
  }

 private:
  const RowForm form_;
  const std::string metadata_;
  const std::shared_ptr<const PackedIndex> index_;
};

}  // namespace

Result<std::unique_ptr<DataSet>> make_packed_set(const v1::Pack& pack,
                                                 std::vector<MegatronFile> files) {
  std::string metadata =
      fmt::format("{}\npacked {} {} {}", lengths_text(files), pack.length(),
                  pack.method() == "best_fit" ? "best_fit" : "cut", pack.padding());
  PackedFiles packed;
  for (MegatronFile& file : files) {
    auto added = std::make_unique<PackedFile>();
    added->file = std::move(file);
    added->length = static_cast<std::uint32_t>(pack.length());
    auto layout = make_row_layout(pack, added->file.sequences);
    if (!layout.ok()) return layout.status().with_context(added->file.object.url);
    added->layout = std::move(*layout);
    packed.push_back(std::move(added));
  }
  return std::unique_ptr<DataSet>(
      std::make_unique<PackedDataSet>(pack, std::move(packed), std::move(metadata)));
}

}  // namespace echoline::record
