// The text of a file is path, NUL, version: a path cannot contain NUL.
#include "record/index/file_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace echoline::record {

std::string_view file_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot + 1 == base.size() ? "data" : base.substr(dot + 1);
}

void FileIndex::add_root(std::string_view url) {
  // The files that are added next belong to this root.
  roots_.push_back({std::string(url), bytes_.size()});
}

void FileIndex::add(const source::ObjectInfo& object) {
  // Only the part below the root: the root is stored once.
  text_.append(object.url, roots_.back().url.size());
  text_.push_back('\0');
  text_.append(object.version);
  end_file(object.bytes);
}

Status FileIndex::restore(const StoredIndex& stored, std::size_t shard) {
  const Shard& root = stored.shards[shard];
  add_root(root.object.url);
  for (std::uint64_t i = 0; i < root.record_count; ++i) {
    const std::uint64_t record = root.first_record + i;
    const std::string_view key = stored.records.key(record);
    const std::size_t path_end = key.find('\0');
    // An empty path would be the root itself; without NUL there is no version.
    if (path_end == 0 || path_end == std::string_view::npos) {
      return Status(Code::kDataLoss,
                    fmt::format("corrupt listing of {}: file {} has no name", root.object.url, i));
    }
    text_.append(key);
    end_file(stored.records.bytes[record]);
  }
  return {};
}

// Completes a file after its text has been appended.
void FileIndex::end_file(std::uint64_t bytes) {
  text_end_.push_back(text_.size());
  bytes_.push_back(bytes);
  bytes_max_ = std::max(bytes_max_, bytes);
  bytes_total_ += bytes;
}

void FileIndex::shrink() {
  bytes_.shrink_to_fit();
  text_end_.shrink_to_fit();
  text_.shrink_to_fit();
}

std::uint64_t FileIndex::memory_bytes() const {
  return (bytes_.capacity() + text_end_.capacity()) * sizeof(std::uint64_t) + text_.capacity();
}

void FileIndex::store(std::size_t root, StoredIndex& stored) const {
  const std::uint64_t first = roots_[root].first;
  const std::uint64_t end = root + 1 < roots_.size() ? roots_[root + 1].first : bytes_.size();
  Shard shard;
  shard.object.url = roots_[root].url;
  shard.first_record = stored.records.size();
  shard.record_count = end - first;
  for (std::uint64_t record = first; record < end; ++record) {
    // Offsets as if the files followed each other: check_records expects ascending records.
    stored.records.add(shard.object.bytes, bytes_[record], text(record));
    shard.object.bytes += bytes_[record];
  }
  stored.shards.push_back(std::move(shard));
}

std::string_view FileIndex::text(std::uint64_t record) const {
  const std::uint64_t start = record == 0 ? 0 : text_end_[record - 1];
  return std::string_view(text_).substr(start, text_end_[record] - start);
}

std::string_view FileIndex::path(std::uint64_t record) const {
  const std::string_view both = text(record);
  return both.substr(0, both.find('\0'));
}

std::string_view FileIndex::root_of(std::uint64_t record) const {
  // The last root that begins at or before the file.
  const auto after =
      std::upper_bound(roots_.begin(), roots_.end(), record,
                       [](std::uint64_t wanted, const Root& root) { return wanted < root.first; });
  return (after - 1)->url;
}

Shard FileIndex::shard(std::size_t shard_index) const {
  const std::string_view below = path(shard_index);
  Shard shard;
  shard.object.url = root_of(shard_index);
  shard.object.url += below;
  shard.object.bytes = bytes_[shard_index];
  shard.object.version = text(shard_index).substr(below.size() + 1);
  shard.first_record = shard_index;
  shard.record_count = 1;
  return shard;
}

Extent FileIndex::extent(std::uint64_t record) const {
  // A file is a shard of its own.
  return {static_cast<std::uint32_t>(record), 0, bytes_[record]};
}

}  // namespace echoline::record
