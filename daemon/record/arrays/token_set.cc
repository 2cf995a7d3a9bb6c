// Token files: a record is `length` tokens, and the next record begins `stride` tokens later.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/arrays/array_header.h"
#include "record/arrays/array_sets.h"
#include "record/core/fields.h"
#include "record/index/listing.h"
#include "record/index/prefetch_headers.h"
#include "record/index/uniform_index.h"

namespace echoline::record {
namespace {

constexpr std::string_view kTokens = "tokens";

class TokenDataSet final : public DataSet {
 public:
  TokenDataSet(std::vector<UniformShard> shards, std::vector<ElementType> types)
      : index_(std::move(shards)), types_(std::move(types)) {}
  const Index& index() const override { return index_; }
  std::string_view format() const override { return "tokens"; }
  Status check_field(std::string_view key, std::string_view as) const override {
    if (key != kTokens) return {};
    for (std::size_t shard = 0; shard < types_.size(); ++shard) {
      ECHOLINE_TRY(check_element_type(types_[shard], index_.shard(shard).object.url, as));
    }
    return {};
  }
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, Fields& fields) const override;

 private:
  const UniformIndex index_;
  const std::vector<ElementType> types_;  // by shard
};

Status TokenDataSet::cut(std::uint64_t record, std::span<const std::byte> bytes,
                         Fields& fields) const {
  clear_fields(fields);
  const ElementType& type = types_[index_.shard_of(record)];
  // Little-endian already: the record itself is the field.
  if (!type.big_endian || type.bytes == 1) {
    fields.fields.push_back({kTokens, bytes});
    return {};
  }
  fields.scratch.resize(bytes.size());
  auto* turned = reinterpret_cast<std::byte*>(fields.scratch.data());
  copy_little_endian(bytes, type, turned);
  fields.fields.push_back({kTokens, {turned, bytes.size()}});
  return {};
}

// Layout of one file: type, offset of the first token, number of tokens.
struct TokenFile {
  ElementType type;
  std::uint64_t first_byte = 0;
  std::uint64_t count = 0;
};

// The header that llm.c and its forks write: 256 int32, the first of which are a magic number
// (which implies the token size), a version and the number of tokens. It is accepted only if that
// number fits the file.
std::optional<TokenFile> llmc_header(std::span<const std::byte> head, std::uint64_t bytes) {
  constexpr std::uint64_t kHeaderBytes = 256 * 4;
  constexpr std::uint32_t kGpt2Magic = 20240520, kLlama3Magic = 20240801;
  // Too short for the header.
  if (head.size() < kHeaderBytes) return std::nullopt;
  std::array<std::uint32_t, 3> words{};
  // The fields of the header are little-endian, like this machine.
  std::memcpy(words.data(), head.data(), sizeof(words));
  const auto& [magic, version, count] = words;
  if (magic != kGpt2Magic && magic != kLlama3Magic) return std::nullopt;
  TokenFile file{{ElementKind::kUnsigned, magic == kGpt2Magic ? 2U : 4U}, kHeaderBytes, count};
  if (version == 0 || kHeaderBytes + count * std::uint64_t{file.type.bytes} != bytes) {
    return std::nullopt;
  }
  return file;
}

Result<TokenFile> read_layout(const source::ObjectInfo& object, const ElementType& configured,
                              std::span<const std::byte> head) {
  // The two kinds of headers first; without one, the configured type counts.
  if (const auto file = llmc_header(head, object.bytes)) return *file;
  if (!is_npy(head)) {
    if (object.bytes % configured.bytes != 0) {
      return Status(
          Code::kDataLoss,
          fmt::format("{} has {} bytes, which is no whole number of {}-byte tokens: check "
                      "read.tokens.dtype",
                      object.url, object.bytes, configured.bytes));
    }
    return TokenFile{configured, 0, object.bytes / configured.bytes};
  }
  auto header = parse_npy_header(head);
  if (!header.ok()) return header.status().with_context(object.url);
  // As for IDX: the exact size shows a truncated file.
  if (header->header_bytes + header->data_bytes() != object.bytes) {
    return Status(
        Code::kDataLoss,
        fmt::format("{} has {} bytes where its header says {}: it is truncated", object.url,
                    object.bytes, header->header_bytes + header->data_bytes()));
  }
  return TokenFile{header->type, header->header_bytes, header->elements()};
}

Result<Match> match_tokens(const FormatProbe& probe) {
  // Raw tokens look like anything, so only the configuration can name them.
  if (is_npy(probe.head)) return Match::kContent;
  return probe.read.has_tokens() ? Match::kConfigured : Match::kNone;
}

OpenedDataSet open_tokens(const OpenRequest& request, std::vector<Listed> listed) {
  const v1::Read& read = request.read;
  const std::vector<source::ObjectInfo> objects = flatten(std::move(listed));
  const std::uint64_t length = read.tokens().length();
  // The upper bound keeps sizes in bytes below 2^64.
  if (length == 0 || length > std::uint64_t{1} << 40) {
    return Status(Code::kInvalidArgument,
                  "format tokens needs read.tokens.length, the tokens of one record");
  }
  // Not set: records follow each other without overlap.
  const std::uint64_t stride = read.tokens().stride() == 0 ? length : read.tokens().stride();
  const std::string& dtype = read.tokens().dtype();
  ECHOLINE_ASSIGN(const ElementType configured, element_type(dtype.empty() ? "uint16" : dtype));
  std::vector<UniformShard> shards;
  std::vector<ElementType> types;
  const auto add = [&](std::size_t shard_index, std::span<const std::byte> head) -> Status {
    ECHOLINE_ASSIGN(const TokenFile file, read_layout(objects[shard_index], configured, head));
    UniformShard shard;
    shard.object = objects[shard_index];
    // Records must lie completely in their file: tokens at the end that fill none are left out.
    shard.record_count = file.count < length ? 0 : (file.count - length) / stride + 1;
    shard.first_byte = file.first_byte;
    shard.record_bytes = length * file.type.bytes;
    shard.stride_bytes = stride * file.type.bytes;
    shards.push_back(std::move(shard));
    types.push_back(file.type);
    return {};
  };
  const auto read_headers = [&]() -> Result<std::size_t> {
    // Called again if an answer could not be parsed, so it starts from nothing.
    shards.clear();
    types.clear();
    ECHOLINE_TRY(for_each_header(objects, kArrayHeadBytes, request.source, add));
    return shards.size();
  };
  ECHOLINE_TRY(read_parsed(request.source, read_headers).status());
  auto set = std::make_unique<TokenDataSet>(std::move(shards), std::move(types));
  if (set->index().record_count() == 0) {
    return Status(Code::kNotFound,
                  fmt::format("{} holds fewer than {} tokens: lower read.tokens.length",
                              set->index().shards()[0].object.url, length));
  }
  return std::unique_ptr<DataSet>(std::move(set));
}

}  // namespace

constinit const Format kTokensFormat = {
    .name = "tokens", .match = match_tokens, .open = open_tokens};

}  // namespace echoline::record
