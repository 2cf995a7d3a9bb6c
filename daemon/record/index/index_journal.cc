// An entry is its size, 8 bytes little-endian, and an encoded index of one shard.
#include "record/index/index_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/log.h"
#include "record/core/local_file.h"

namespace echoline::record {
namespace {

using Size = std::uint64_t;

// The shard of the first entry; nothing if the entry is incomplete or damaged.
struct Entry {
  StoredIndex index;
  std::size_t bytes = 0;
};
Result<Entry> first_entry(std::span<const std::byte> bytes) {
  Size size = 0;
  // The last entry may be cut at any place.
  if (bytes.size() < sizeof(size)) return Status(Code::kDataLoss, "incomplete");
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size() - sizeof(size)) return Status(Code::kDataLoss, "incomplete");
  ECHOLINE_ASSIGN(StoredIndex index, decode_index(bytes.subspan(sizeof(size), size)));
  return Entry{std::move(index), sizeof(size) + size};
}

void append_shards(StoredIndex& all, const StoredIndex& more) {
  for (Shard shard : more.shards) {
    // Its records follow those of the shards before.
    shard.first_record += all.records.size();
    all.shards.push_back(std::move(shard));
  }
  all.records.append(more.records, 0, more.records.size());
}

}  // namespace

IndexJournal::IndexJournal(const std::string& index_path)
    : path_(index_path.empty() ? "" : index_path + ".part") {}

StoredIndex IndexJournal::load() const {
  StoredIndex all;
  if (path_.empty()) return all;
  const Result<std::string> text = read_file(path_);
  // No journal: no pass was interrupted.
  if (!text.ok()) return all;
  const auto bytes = std::as_bytes(std::span(*text));
  std::size_t good = 0;
  while (good < bytes.size()) {
    const Result<Entry> entry = first_entry(bytes.subspan(good));
    if (!entry.ok()) break;
    append_shards(all, entry->index);
    good += entry->bytes;
  }
  // Entries that are added behind an incomplete one could never be read.
  if (good < bytes.size() && ::truncate(path_.c_str(), static_cast<off_t>(good)) != 0) {
    log_warning("record", "{}: {}", path_, std::strerror(errno));
  }
  return all;
}

void IndexJournal::add(const Shard& shard, const RecordTable& records) {
  if (path_.empty()) return;
  const std::string index = encode_index({{shard}, records});
  const Size size = index.size();
  std::string entry(reinterpret_cast<const char*>(&size), sizeof(size));
  entry += index;
  const Status status = append(entry);
  if (status.ok()) return;
  log_warning("record", "an interrupted index pass will start from the beginning: {}",
              status.message());
  // Nothing more is kept, and one log line is enough.
  path_.clear();
}

Status IndexJournal::append(const std::string& entry) {
  if (!file_) {
    std::error_code ignored;  // open() reports the error
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    // O_APPEND: two passes over the same data set write whole entries behind each other.
    file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file_) return errno_status(errno, path_);
  }
  const ssize_t written = ::write(file_.get(), entry.data(), entry.size());
  if (written < 0) return errno_status(errno, path_);
  // The disk is full. load() removes the incomplete entry.
  if (static_cast<std::size_t>(written) < entry.size()) {
    return Status(Code::kResourceExhausted, path_ + ": no room for an entry");
  }
  return {};
}

void IndexJournal::remove() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  file_.reset();
}

}  // namespace echoline::record
