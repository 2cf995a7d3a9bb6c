// The index has only the extent of a record: its tar headers are parsed again when it is cut. Where
// its links lead is decided again, too, by the paths of the members that were read.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "record/core/fields.h"
#include "record/tar/tar_links.h"
#include "record/tar/tar_member.h"
#include "record/tar/webdataset.h"

namespace echoline::record {
namespace {

bool is_lower(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// One member and its data.
struct CutMember {
  TarMember member;
  std::uint64_t offset = 0;  // in the archive
  std::span<const std::byte> data;
};

// Takes the first member off `bytes`; nothing at the end of the archive.
Result<std::optional<CutMember>> take_member(std::span<const std::byte>& bytes,
                                             std::uint64_t offset) {
  ECHOLINE_ASSIGN(const TarParse parsed, parse_tar_member(bytes));
  if (parsed.step == TarStep::kNeedMore) {
    return Status(Code::kDataLoss, "truncated: the shard ends within a tar header");
  }
  if (parsed.step == TarStep::kEnd) {
    bytes = {};
    return std::optional<CutMember>();
  }
  const TarMember& member = parsed.member;
  // parse_tar_member has checked that the headers are within the bytes.
  const std::uint64_t left = bytes.size() - member.header_bytes;
  if (member.data_bytes > left) {
    return Status(Code::kDataLoss, fmt::format("truncated: '{}' has {} of its {} bytes",
                                               member.name, left, member.data_bytes));
  }
  CutMember cut{member, offset, bytes.subspan(member.header_bytes, member.data_bytes)};
  // The padding of the last member may be missing.
  bytes = bytes.subspan(std::min<std::uint64_t>(member.total_bytes(), bytes.size()));
  return std::optional(cut);
}

// The members that a record's links may lead through.
class LinkedMembers {
 public:
  // Takes the members of the record and of its parts.
  Status prepare(const TarRecordBytes& record);
  Result<std::span<const std::byte>> data_of(const CutMember& link) const;

 private:
  struct Known {
    std::string path;
    CutMember member;
  };
  void add(const CutMember& member);
  const CutMember* find(const std::string& path, std::uint64_t before) const;

  std::vector<Known> members_;  // by path, then by offset, after prepare()
};

void LinkedMembers::add(const CutMember& member) {
  auto path = archive_path(member.member.directory, member.member.name);
  if (path) members_.push_back({*std::move(path), member});
}

Status LinkedMembers::prepare(const TarRecordBytes& record) {
  std::span<const std::byte> rest = record.own;
  while (!rest.empty()) {
    const std::uint64_t offset = record.offset + (record.own.size() - rest.size());
    ECHOLINE_ASSIGN(const std::optional<CutMember> cut, take_member(rest, offset));
    if (!cut || (!cut->member.file && cut->member.link == TarLink::kNone)) continue;
    add(*cut);
  }
  std::uint64_t begin = 0;
  for (const RecordPart& part : record.parts) {
    if (part.bytes > record.linked.size() - begin) {
      return Status(Code::kDataLoss, "the files of its links are incomplete");
    }
    rest = record.linked.subspan(begin, part.bytes);
    begin += part.bytes;
    ECHOLINE_ASSIGN(const std::optional<CutMember> cut, take_member(rest, part.offset));
    if (cut) add(*cut);
  }
  std::sort(members_.begin(), members_.end(), [](const Known& a, const Known& b) {
    return std::tie(a.path, a.member.offset) < std::tie(b.path, b.member.offset);
  });
  return {};
}

const CutMember* LinkedMembers::find(const std::string& path, std::uint64_t before) const {
  const auto after = std::lower_bound(
      members_.begin(), members_.end(), std::tie(path, before),
      [](const Known& a, const auto& b) { return std::tie(a.path, a.member.offset) < b; });
  const bool found = after != members_.begin() && std::prev(after)->path == path;
  return found ? &std::prev(after)->member : nullptr;
}

Result<std::span<const std::byte>> LinkedMembers::data_of(const CutMember& link) const {
  const CutMember* last = nullptr;
  const auto find_entry = [&](const std::string& path,
                              std::uint64_t before) -> std::optional<TarEntry> {
    last = find(path, before);
    if (last == nullptr) return std::nullopt;
    return make_entry(last->member, last->offset);
  };
  std::vector<TarEntry> passed;
  ECHOLINE_TRY(follow_link(make_entry(link.member, link.offset), find_entry, passed));
  return last->data;
}

// The bytes belong to another shard than the one that was indexed.
Status other_key(std::string_view found, std::string_view key) {
  return Status(Code::kFailedPrecondition,
                fmt::format("the shard has record '{}' where the index has '{}', so the index is "
                            "another shard's: remove index files that were not made for it; {}",
                            found, key, source::kReindexHint));
}

}  // namespace

Status cut_tar_record(const TarRecordBytes& record, Fields& fields) {
  clear_fields(fields);
  std::vector<std::pair<std::size_t, CutMember>> links;  // by field
  std::span<const std::byte> rest = record.own;
  while (!rest.empty()) {
    const std::uint64_t offset = record.offset + (record.own.size() - rest.size());
    ECHOLINE_ASSIGN(const std::optional<CutMember> cut, take_member(rest, offset));
    const auto name = cut ? sample_name(cut->member) : std::nullopt;
    if (!name) continue;
    if (!name->has_key(record.key)) return other_key(name->key(), record.key);
    std::string_view field = name->extension;
    if (!is_lower(field)) field = copy_to_scratch(fields, lower_ascii(field));
    if (cut->member.link != TarLink::kNone) links.emplace_back(fields.fields.size(), *cut);
    fields.fields.push_back({field, cut->data});
  }
  if (fields.fields.empty()) return Status(Code::kDataLoss, "the record holds no file");
  if (links.empty()) return {};
  LinkedMembers members;
  ECHOLINE_TRY(members.prepare(record));
  for (const auto& [field, link] : links) {
    ECHOLINE_ASSIGN(fields.fields[field].bytes, members.data_of(link));
  }
  return {};
}

bool has_tar_links(std::span<const std::byte> own) {
  while (!own.empty()) {
    const auto cut = take_member(own, 0);
    if (!cut.ok()) return false;
    if (*cut && (*cut)->member.link != TarLink::kNone) return true;
  }
  return false;
}

}  // namespace echoline::record
