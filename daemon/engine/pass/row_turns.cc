#include "engine/pass/row_turns.h"

namespace echoline::engine {

bool RowTurns::is_next(std::uint32_t index, Chunk& chunk) {
  const MutexLock lock(mutex_);
  if (index == next_) return true;
  waiting_.emplace(index, &chunk);
  return false;
}

Chunk* RowTurns::take(std::span<const std::uint64_t> lengths, std::vector<std::uint64_t>& begins) {
  const MutexLock lock(mutex_);
  begins = ends_;
  for (std::size_t field = 0; field < ends_.size(); ++field) ends_[field] += lengths[field];
  const auto waiting = waiting_.find(++next_);
  if (waiting == waiting_.end()) return nullptr;
  Chunk* const chunk = waiting->second;
  waiting_.erase(waiting);
  return chunk;
}

}  // namespace echoline::engine
