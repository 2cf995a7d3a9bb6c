// Every number is checked: the text is as untrusted as the data.
#include "record/tar/wds_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "record/tar/tar_header.h"
#include "record/tar/tar_member.h"

namespace echoline::record {
namespace {

// Takes the text up to a separator off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::string_view word = take_until(text, ' ');
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || word.empty() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Groups the files of an index into records that follow each other.
class WdsRecords {
 public:
  explicit WdsRecords(std::uint64_t shard_bytes) : shard_bytes_(shard_bytes) {}
  Status add_line(std::string_view line);
  RecordTable take() { return std::move(table_); }

 private:
  Status add_file(std::string_view extension, std::uint64_t offset, std::uint64_t bytes,
                  std::string_view path);

  const std::uint64_t shard_bytes_;
  RecordTable table_;
  std::uint64_t end_ = 0;   // of the last file of a record, with padding
  std::uint64_t last_ = 0;  // the same of all files
  std::string key_;
  std::vector<std::string> extensions_;  // of the current record
};

Status WdsRecords::add_line(std::string_view line) {
  while (!line.empty()) {
    const std::string_view extension = take_until(line, ' ');
    const auto offset = take_number(line), bytes = take_number(line);
    const std::string_view path = take_until(line, ' ');
    if (!offset || !bytes || path.empty()) {
      return Status(Code::kUnimplemented,
                    "a line has not the words EXTENSION OFFSET SIZE NAME for each file, without "
                    "spaces in names");
    }
    // GNU tar, which wds2idx asks, shows special characters as escapes.
    if (path.find('\\') != std::string_view::npos) {
      return Status(Code::kUnimplemented, fmt::format("the name {} has special characters", path));
    }
    ECHOLINE_TRY(add_file(extension, *offset, *bytes, path));
  }
  return {};
}

Status WdsRecords::add_file(std::string_view extension, std::uint64_t offset, std::uint64_t bytes,
                            std::string_view path) {
  const bool fits = offset % kTarBlock == 0 && offset <= shard_bytes_ &&
                    bytes <= shard_bytes_ - offset && offset >= last_ + kTarBlock;
  if (!fits) {
    return Status(Code::kDataLoss,
                  fmt::format("'{}' of {} bytes at {} is not behind the file before it, or not in "
                              "the shard of {} bytes",
                              path, bytes, offset, shard_bytes_));
  }
  // The padding of the last file may be missing.
  last_ = std::min((offset + bytes + kTarBlock - 1) / kTarBlock * kTarBlock, shard_bytes_);
  TarMember member;
  member.name = path;
  member.file = true;
  const auto name = sample_name(member);
  if (!name) return {};
  if (name->extension != extension) {
    return Status(Code::kDataLoss, fmt::format("'{}' has not the extension '{}'", path, extension));
  }
  std::string field = lower_ascii(extension);
  if (table_.size() == 0 || !name->has_key(key_)) {
    key_ = name->key();
    table_.add(end_, 0, key_);
    extensions_.clear();
  } else if (std::find(extensions_.begin(), extensions_.end(), field) != extensions_.end()) {
    return Status(Code::kUnimplemented,
                  fmt::format("record '{}' has the extension '{}' twice", key_, field));
  }
  extensions_.push_back(std::move(field));
  end_ = last_;
  table_.bytes.back() = end_ - table_.offset.back();
  return {};
}

}  // namespace

Result<RecordTable> parse_wds_index(std::string_view text, std::uint64_t shard_bytes) {
  std::string_view head = take_until(text, '\n');
  const std::string_view version = take_until(head, ' ');
  const auto count = take_number(head);
  if (version != "v1.2" || !count || !head.empty()) {
    return Status(Code::kUnimplemented, "it does not begin with 'v1.2 COUNT'");
  }
  WdsRecords records(shard_bytes);
  std::uint64_t lines = 0;
  for (; !text.empty(); ++lines) ECHOLINE_TRY(records.add_line(take_until(text, '\n')));
  if (lines != *count) {
    return Status(Code::kDataLoss, fmt::format("it has {} lines where it says {}", lines, *count));
  }
  return records.take();
}

Status check_tar_rest(std::span<const std::byte> rest) {
  while (!rest.empty()) {
    ECHOLINE_ASSIGN(const TarParse parsed, parse_tar_member(rest));
    if (parsed.step == TarStep::kEnd) return {};
    if (parsed.step == TarStep::kNeedMore) return Status(Code::kDataLoss, "the shard is truncated");
    if (sample_name(parsed.member)) {
      return Status(Code::kDataLoss, fmt::format("the shard has '{}' behind the last file of the "
                                                 "index",
                                                 parsed.member.path()));
    }
    rest = rest.subspan(std::min<std::uint64_t>(parsed.member.total_bytes(), rest.size()));
  }
  return {};
}

}  // namespace echoline::record
