#include "cache/disk_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cache/disk_file.h"
#include "cache/random_word.h"

namespace echoline::cache {
namespace {

// A portion of the log in memory: 1 MiB.
constexpr std::size_t kEntriesAtOnce = 16384;

}  // namespace

Result<DiskLog> DiskLog::open(const std::string& path) {
  DiskLog log(path);
  ECHOLINE_ASSIGN(log.file_, open_file(path));
  return log;
}

bool DiskLog::refresh() {
  DiskHeader header;
  // A new or damaged file.
  if (!read_at(file_.get(), 0, bytes_of(header)) || !valid(header)) {
    if (!start_new_log()) return false;
    header = header_;
  }
  // Another daemon has started the log again: all known values are gone.
  if (header.generation != header_.generation) forget_all();
  header_ = header;
  if (!read_tail()) return false;
  // Entries that were cut off need no room, and the header's count has no check of its own. Between
  // the live values and the end of the data are only holes, which may be freed or not.
  header_.used_bytes = std::min(header_.used_bytes, position_ + data_end_);
  header_.used_bytes = std::max(header_.used_bytes, position_ + live_bytes_);
  return true;
}

bool DiskLog::grown() const {
  // Also true for a file that became shorter: the log was started again, or damage was cut off.
  struct stat about {};
  return ::fstat(file_.get(), &about) == 0 &&
         static_cast<std::uint64_t>(about.st_size) != position_;
}

bool DiskLog::start_new_log() {
  DiskHeader header;
  // First the new, empty state on the disk, then in memory.
  header.generation = random_word();
  header.used_bytes = kHeaderBytes;
  header.check = check_of(header);
  if (::ftruncate(file_.get(), 0) != 0) return false;
  if (!write_at(file_.get(), 0, bytes_of(std::as_const(header)))) return false;
  forget_all();
  header_ = header;
  return true;
}

void DiskLog::forget_all() {
  values_.clear();
  position_ = kHeaderBytes;
  live_bytes_ = 0;
  data_end_ = 0;
}

bool DiskLog::read_tail() {
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0) return false;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  // Another daemon has found damage in what this one had read, and cut it off.
  if (size < position_) forget_all();
  if (size < position_) return false;  // something else cuts the file just now
  // At the start the table gets its full size at once, so that it does not grow step by step.
  if (values_.empty()) values_.reserve((size - position_) / kEntryBytes);
  std::vector<DiskEntry> entries;
  // In portions, so that the memory does not depend on the length of the log.
  while (size - position_ >= kEntryBytes) {
    entries.resize(std::min<std::uint64_t>(kEntriesAtOnce, (size - position_) / kEntryBytes));
    if (!read_at(file_.get(), position_, std::as_writable_bytes(std::span(entries)))) return false;
    for (const DiskEntry& entry : entries) {
      if (!valid(entry, header_.generation)) return cut_off();
      take(entry);
      position_ += kEntryBytes;
    }
  }
  // Less than an entry is left: a writer was killed.
  return size == position_ || cut_off();
}

// The log is appended only, so its first invalid entry is the end of what a killed writer finished.
bool DiskLog::cut_off() { return ::ftruncate(file_.get(), static_cast<off_t>(position_)) == 0; }

void DiskLog::take(const DiskEntry& entry) {
  const auto [found, added] = values_.try_emplace(entry.location);
  // A later entry of the same location replaces the earlier one.
  if (!added) live_bytes_ -= found->second.bytes;
  found->second = {entry.version, entry.offset, entry.bytes, entry.checksum};
  live_bytes_ += entry.bytes;
  // Space between values is never reused; new values go behind the last one.
  data_end_ = std::max(data_end_, entry.end());
}

bool DiskLog::append(std::span<DiskEntry> entries) {
  // The check includes the generation, which the caller does not know.
  for (DiskEntry& entry : entries) entry.check = check_of(entry, header_.generation);
  if (!write_at(file_.get(), position_, std::as_bytes(entries))) {
    cut_off();  // removes the entries that were written
    return false;
  }
  for (const DiskEntry& entry : entries) take(entry);
  position_ += entries.size_bytes();
  return true;
}

bool DiskLog::set_used_bytes(std::uint64_t bytes) {
  // In place: eight bytes, which a crash leaves old or new.
  if (!write_at(file_.get(), offsetof(DiskHeader, used_bytes), bytes_of(std::as_const(bytes)))) {
    return false;
  }
  header_.used_bytes = bytes;
  return true;
}

const DiskValue* DiskLog::find(const Hash128& location) const {
  const auto found = values_.find(location);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<DiskValue> DiskLog::erase(const Hash128& location, std::uint64_t checksum) {
  const auto found = values_.find(location);
  if (found == values_.end() || found->second.checksum != checksum) return std::nullopt;
  const DiskValue value = found->second;
  live_bytes_ -= value.bytes;
  values_.erase(found);
  return value;
}

// Writes a second log and renames it over the first one: a crash leaves one of the two complete.
bool DiskLog::rewrite(const std::function<bool(const Hash128&)>& keep,
                      std::vector<DiskValue>& dropped) {
  const std::string path = path_ + ".new";
  // What an interrupted rewrite left.
  ::unlink(path.c_str());
  Result<DiskLog> opened = open(path);
  if (!opened.ok() || !opened->start_new_log()) return false;
  DiskLog& next = *opened;
  std::vector<DiskEntry> kept;
  for (const auto& [location, value] : values_) {
    if (!keep(location)) {
      dropped.push_back(value);
      continue;
    }
    kept.push_back({.location = location,
                    .version = value.version,
                    .offset = value.offset,
                    .bytes = value.bytes,
                    .checksum = value.checksum});
  }
  // Entries are complete before the rename makes them the log.
  if (!next.append(kept) || ::rename(path.c_str(), path_.c_str()) != 0) return false;
  next.path_ = path_;
  *this = std::move(next);
  return true;
}

}  // namespace echoline::cache
