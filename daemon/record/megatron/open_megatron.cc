// Finds the index file of each .bin file and reads it.
#include <fmt/core.h>

#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/index/foreign_index.h"
#include "record/index/listing.h"
#include "record/megatron/packed_set.h"
#include "record/megatron/sequence_set.h"

namespace echoline::record {
namespace {

constexpr std::string_view kTokenSuffix = ".bin", kIndexSuffix = ".idx";

// The address of the index file; empty if this is no .bin file.
std::string index_address(std::string_view url) {
  if (!url.ends_with(kTokenSuffix)) return {};
  url.remove_suffix(kTokenSuffix.size());
  return fmt::format("{}{}", url, kIndexSuffix);
}

Result<std::vector<source::ObjectInfo>> find_indexes(const std::vector<source::ObjectInfo>& bins,
                                                     source::Source& source) {
  std::vector<std::string> addresses;
  for (const source::ObjectInfo& bin : bins) {
    const std::string address = index_address(bin.url);
    if (address.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} is no .bin file: read.url of format megatron names the files "
                                "of tokens; each has its .idx file next to it",
                                bin.url));
    }
    addresses.push_back(escape_glob(address));
  }
  auto found = source.list_all(addresses);
  if (found.ok() && found->size() == bins.size()) return found;
  if (found.ok()) found = Status(Code::kNotFound, "no such file");
  return std::move(found).status().with_context(
      fmt::format("format megatron needs an index file for each .bin file ({} for {})",
                  index_address(bins.front().url), base_name(bins.front().url)));
}

Result<MegatronFile> read_index(const source::ObjectInfo& bin, const source::ObjectInfo& index,
                                source::Source& source) {
  const auto parse = [&]() -> Result<MegatronFile> {
    ECHOLINE_ASSIGN(
        const std::vector<std::byte> head,
        read_bytes(source, index, 0, std::min<std::uint64_t>(index.bytes, kSequenceHeaderBytes)));
    ECHOLINE_ASSIGN(const SequenceHeader header, parse_sequence_header(head, index.bytes));
    const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
      return read_bytes(source, index, offset, bytes);
    };
    ECHOLINE_ASSIGN(Sequences sequences, read_sequences(header, bin.bytes, read));
    return MegatronFile{bin, header.type, std::move(sequences)};
  };
  auto file = read_parsed(source, parse);
  if (!file.ok()) return std::move(file).status().with_context(index.url);
  return file;
}

// The index file says what a .bin file is. One that cannot be found or read says nothing. An index
// file itself is refused by open_megatron, which knows what to do.
Result<Match> match_megatron(const FormatProbe& probe) {
  if (is_sequence_index(probe.head)) return Match::kContent;
  const std::string address = index_address(probe.listed.front().objects.front().url);
  if (address.empty() || probe.read.has_tokens()) return Match::kNone;
  const auto index = probe.source.list(escape_glob(address));
  if (!index.ok() || index->size() != 1 || index->front().bytes < kSequenceHeaderBytes) {
    return Match::kNone;
  }
  const auto head = read_bytes(probe.source, index->front(), 0, kSequenceHeaderBytes);
  return head.ok() && is_sequence_index(*head) ? Match::kIndexFile : Match::kNone;
}

OpenedDataSet open_megatron(const OpenRequest& request, std::vector<Listed> listed) {
  const std::vector<source::ObjectInfo> bins = flatten(std::move(listed));
  ECHOLINE_ASSIGN(const std::vector<source::ObjectInfo> indexes,
                  find_indexes(bins, request.source));
  std::vector<MegatronFile> files;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    ECHOLINE_ASSIGN(MegatronFile file, read_index(bins[i], indexes[i], request.source));
    files.push_back(std::move(file));
    Progress progress;
    progress.shards_done = i + 1;
    progress.shards = bins.size();
    if (request.progress) ECHOLINE_TRY(request.progress(progress));
  }
  if (request.read.has_pack()) return make_packed_set(request.read.pack(), std::move(files));
  return make_sequence_set(std::move(files));
}

}  // namespace

constinit const Format kMegatronFormat = {
    .name = "megatron",
    .match = match_megatron,
    .open = open_megatron,
    .expand = drop_foreign_indexes,
};

}  // namespace echoline::record
