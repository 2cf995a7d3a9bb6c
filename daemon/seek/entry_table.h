// Seek indexes in memory, by the number of their file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "seek/entry.h"

namespace echoline::seek {

// Only grows: an entry stays where it is, unchanged, until the table ends. So it is read without
// the lock. Any thread.
class EntryTable {
 public:
  // Of an entry, in addition to its bytes: its place in the map, and unused ends of chunks.
  static constexpr std::uint64_t kOverheadBytes = 80;

  explicit EntryTable(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Null: there is none.
  const EntryHead* find(std::uint64_t file) const ECHOLINE_EXCLUDES(mutex_);
  // Keeps a copy of a whole entry. False if the file has one already, or if there is no room.
  bool add(std::span<const std::byte> entry) ECHOLINE_EXCLUDES(mutex_);
  std::uint64_t bytes() const ECHOLINE_EXCLUDES(mutex_);
  // Takes no more entries. Returns bytes().
  std::uint64_t close() ECHOLINE_EXCLUDES(mutex_);

  // How far a reader of all entries is.
  struct Position {
    std::size_t chunk = 0;
    std::size_t offset = 0;
  };
  // Whole entries from the position on, in the order in which they were added; moves the position
  // beyond them. Empty: there are no more.
  std::span<const std::byte> next(Position& position) const ECHOLINE_EXCLUDES(mutex_);

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> data;
    std::size_t size = 0;
    std::size_t used = 0;
  };

  mutable Mutex mutex_;
  std::uint64_t capacity_bytes_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<Chunk> chunks_ ECHOLINE_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, const EntryHead*> entries_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t bytes_ ECHOLINE_GUARDED_BY(mutex_) = 0;
};

inline jpeg::SeekPoints points_of(const EntryHead& head) {
  return {reinterpret_cast<const jpeg::SeekPoint*>(&head + 1), head.points};
}

}  // namespace echoline::seek
