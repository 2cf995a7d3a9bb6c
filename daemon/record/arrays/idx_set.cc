// IDX: a record is the bytes of one item; labels are kept in memory.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "record/arrays/array_header.h"
#include "record/arrays/array_sets.h"
#include "record/core/fields.h"
#include "record/index/compression.h"
#include "record/index/listing.h"
#include "record/index/uniform_index.h"

namespace echoline::record {
namespace {

// 10^9 labels of one byte.
constexpr std::uint64_t kLabelBytesMax = std::uint64_t{1} << 30;

// Labels of one file, little-endian.
struct Labels {
  ElementType type;
  std::uint64_t bytes_each = 0;
  std::vector<std::byte> bytes;
};

// One object of the list. An object of labels has no items.
struct IdxFile {
  ElementType type;
  std::optional<Labels> labels;
};

class IdxDataSet final : public DataSet {
 public:
  IdxDataSet(std::vector<UniformShard> shards, std::vector<IdxFile> files)
      : index_(std::move(shards)), files_(std::move(files)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "idx"; }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;

 private:
  const UniformIndex index_;
  const std::vector<IdxFile> files_;
};

Status IdxDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                       Fields& fields) const {
  clear_fields(fields);
  const std::size_t shard_index = index_.shard_of(record);
  const IdxFile& file = files_[shard_index];
  // One byte has no order, so the record itself is the field.
  if (file.type.bytes == 1) {
    fields.fields.push_back({"image", bytes});
  } else {
    fields.scratch.resize(bytes.size());
    // Big-endian elements are converted into the scratch.
    auto* turned = reinterpret_cast<std::byte*>(fields.scratch.data());
    copy_little_endian(bytes, file.type, turned);
    fields.fields.push_back({"image", {turned, bytes.size()}});
  }
  // Not every file has labels.
  if (!file.labels) return {};
  const Labels& labels = *file.labels;
  // Labels are in the order of the items.
  const std::uint64_t number = record - index_.first_record(shard_index);
  const std::byte* at = labels.bytes.data() + number * labels.bytes_each;
  const std::string_view text = copy_to_scratch(fields, element_text(labels.type, at));
  fields.fields.push_back({"label", as_bytes(text)});
  return {};
}

Result<ArrayHeader> read_header(const source::ObjectInfo& object, source::Source& source) {
  ECHOLINE_ASSIGN(const std::vector<std::byte> head,
                  read_bytes(source, object, 0, std::min(object.bytes, kArrayHeadBytes)));
  if (Status packed = refuse_compressed(head); !packed.ok()) {
    return std::move(packed).with_context(object.url);
  }
  auto header = parse_idx_header(head);
  if (!header.ok()) return header.status().with_context(object.url);
  // The header gives the exact size, so a truncated file is found here.
  if (header->header_bytes + header->data_bytes() != object.bytes) {
    return Status(
        Code::kDataLoss,
        fmt::format("{} has {} bytes where its header says {}: it is truncated "
                    "or another file",
                    object.url, object.bytes, header->header_bytes + header->data_bytes()));
  }
  return header;
}

Result<Labels> read_labels(const source::ObjectInfo& object, const ArrayHeader& header,
                           std::uint64_t count, source::Source& source) {
  // Labels of another file would be assigned without notice.
  if (header.shape[0] != count) {
    return Status(Code::kDataLoss, fmt::format("{} holds {} labels for {} items", object.url,
                                               header.shape[0], count));
  }
  if (header.data_bytes() > kLabelBytesMax) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{}: labels of {} bytes are not kept in memory", object.url,
                              header.data_bytes()));
  }
  Labels labels;
  labels.type = header.type;
  labels.bytes_each = header.type.bytes;
  ECHOLINE_ASSIGN(const std::vector<std::byte> raw,
                  read_bytes(source, object, header.header_bytes, header.data_bytes()));
  labels.bytes.resize(raw.size());
  copy_little_endian(raw, header.type, labels.bytes.data());
  return labels;
}

UniformShard item_shard(source::ObjectInfo object, const ArrayHeader& header) {
  UniformShard shard;
  shard.object = std::move(object);
  shard.record_count = header.shape[0];
  shard.first_byte = header.header_bytes;
  // Items follow each other without gaps.
  shard.record_bytes = shard.stride_bytes = header.elements(1) * header.type.bytes;
  return shard;
}

Result<Match> match_idx(const FormatProbe& probe) {
  // The exact size makes up for the missing magic number.
  const auto header = parse_idx_header(probe.head);
  const bool fits =
      header.ok() && header->header_bytes + header->data_bytes() == probe.object_bytes;
  return fits ? Match::kContent : Match::kNone;
}

OpenedDataSet open_idx(const OpenRequest& request, std::vector<Listed> listed) {
  std::vector<UniformShard> shards;
  std::vector<IdxFile> files;
  bool labels_may_follow = false;
  // In the order of the configuration: labels follow their images.
  for (source::ObjectInfo& object : flatten(std::move(listed))) {
    ECHOLINE_ASSIGN(const ArrayHeader header, read_parsed(request.source, [&] {
                      return read_header(object, request.source);
                    }));
    if (labels_may_follow && header.shape.size() == 1) {
      // The labels belong to the object before; their own object stays in the list, without
      // records.
      ECHOLINE_ASSIGN(files.back().labels,
                      read_labels(object, header, shards.back().record_count, request.source));
      shards.push_back({std::move(object), 0, 0, 0, 0});
      files.push_back({header.type, std::nullopt});
      labels_may_follow = false;
      continue;
    }
    // Records of no bytes would be endless in a file.
    if (header.elements(1) == 0) {
      return Status(Code::kDataLoss, fmt::format("{} holds items of no bytes", object.url));
    }
    // Labels can only follow items of two dimensions or more.
    labels_may_follow = header.shape.size() > 1;
    shards.push_back(item_shard(std::move(object), header));
    files.push_back({header.type, std::nullopt});
  }
  auto set = std::make_unique<IdxDataSet>(std::move(shards), std::move(files));
  if (set->index().record_count() == 0) {
    return Status(Code::kNotFound,
                  fmt::format("no items in {}", set->index().shards()[0].object.url));
  }
  return std::unique_ptr<DataSet>(std::move(set));
}

}  // namespace

constinit const Format kIdxFormat = {.name = "idx", .match = match_idx, .open = open_idx};

}  // namespace echoline::record
