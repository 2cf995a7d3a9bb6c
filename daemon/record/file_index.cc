// A path holds no NUL, so one may end it.
#include "record/file_index.h"

#include <algorithm>

namespace echoline::record {

std::string_view file_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos || dot + 1 == base.size() ? "data" : base.substr(dot + 1);
}

void FileIndex::add_root(std::string_view url) {
  roots_.push_back({std::string(url), bytes_.size()});
}

void FileIndex::add(const source::ObjectInfo& object, std::uint32_t class_id) {
  text_.append(object.url, roots_.back().url.size());
  text_.push_back('\0');
  text_.append(object.version);
  text_end_.push_back(text_.size());
  bytes_.push_back(object.bytes);
  class_id_.push_back(class_id);
  bytes_max_ = std::max(bytes_max_, object.bytes);
  bytes_total_ += object.bytes;
}

void FileIndex::shrink() {
  bytes_.shrink_to_fit();
  text_end_.shrink_to_fit();
  class_id_.shrink_to_fit();
  text_.shrink_to_fit();
}

std::uint64_t FileIndex::memory_bytes() const {
  return (bytes_.capacity() + text_end_.capacity()) * sizeof(std::uint64_t) +
         class_id_.capacity() * sizeof(std::uint32_t) + text_.capacity();
}

std::string_view FileIndex::text(std::uint64_t record) const {
  const std::uint64_t start = record == 0 ? 0 : text_end_[record - 1];
  return std::string_view(text_).substr(start, text_end_[record] - start);
}

std::string_view FileIndex::path(std::uint64_t record) const {
  const std::string_view both = text(record);
  return both.substr(0, both.find('\0'));
}

Shard FileIndex::shard(std::size_t place) const {
  const auto after =
      std::upper_bound(roots_.begin(), roots_.end(), place,
                       [](std::size_t wanted, const Root& root) { return wanted < root.first; });
  const std::string_view below = path(place);
  Shard shard;
  shard.object.url = (after - 1)->url;
  shard.object.url += below;
  shard.object.bytes = bytes_[place];
  shard.object.version = text(place).substr(below.size() + 1);
  shard.first_record = place;
  shard.record_count = 1;
  return shard;
}

Extent FileIndex::extent(std::uint64_t record) const {
  return {static_cast<std::uint32_t>(record), 0, bytes_[record]};
}

}  // namespace echoline::record
