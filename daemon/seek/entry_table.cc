#include "seek/entry_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace echoline::seek {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

}  // namespace

const EntryHead* EntryTable::find(std::uint64_t file) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(file);
  return found == entries_.end() ? nullptr : found->second;
}

bool EntryTable::add(std::span<const std::byte> entry) {
  EntryHead head;
  std::memcpy(&head, entry.data(), sizeof head);
  const MutexLock lock(mutex_);
  const std::uint64_t cost = entry.size() + kOverheadBytes;
  if (bytes_ + cost > capacity_bytes_ || entries_.contains(head.file)) return false;
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < entry.size()) {
    const std::size_t size = std::max(kChunkBytes, entry.size());
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size, 0});
  }
  Chunk& chunk = chunks_.back();
  std::byte* place = chunk.data.get() + chunk.used;
  std::memcpy(place, entry.data(), entry.size());
  chunk.used += entry.size();
  bytes_ += cost;
  entries_.emplace(head.file, reinterpret_cast<const EntryHead*>(place));
  return true;
}

std::uint64_t EntryTable::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

std::uint64_t EntryTable::close() {
  const MutexLock lock(mutex_);
  return capacity_bytes_ = bytes_;
}

std::span<const std::byte> EntryTable::next(Position& position) const {
  const MutexLock lock(mutex_);
  for (; position.chunk < chunks_.size(); position = {position.chunk + 1, 0}) {
    const Chunk& chunk = chunks_[position.chunk];
    if (position.offset < chunk.used) {
      const std::size_t first = std::exchange(position.offset, chunk.used);
      return {chunk.data.get() + first, chunk.used - first};
    }
    // More may be added to the last one.
    if (position.chunk + 1 == chunks_.size()) break;
  }
  return {};
}

}  // namespace echoline::seek
