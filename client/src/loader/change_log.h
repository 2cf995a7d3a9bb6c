// The entries of a log of changes in a ring (FactorLog, WeightLog), as far as they matter from an
// epoch on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {

// One thread at a time.
template <typename Log>
class ChangeLog {
 public:
  using Entry = std::remove_extent_t<decltype(Log::entries)>;

  // Switches to this log and forgets all entries of the one before. Null: there are no changes.
  // The log must outlive the last update().
  void follow(const Log* log) {
    log_ = log;
    entries_read_ = 0;
    entries_.clear();
  }

  // Reads new entries of the log. Keeps those of `epoch` and later, and the newest one before them:
  // `epoch` begins with it. Costs one atomic load while nothing is new. False if an entry is not
  // valid: is_valid(entry), and epochs never descend.
  template <typename IsValid>
  bool update(std::uint32_t epoch, const IsValid& is_valid) {
    if (log_ == nullptr) return true;
    // One atomic load shows whether anything is new.
    const std::uint64_t count = shm::read_change_count(*log_);
    if (count == entries_read_) return true;
    // Read backwards from the newest entry and stop at the first one before `epoch`: the daemon may
    // overwrite older entries at any time.
    constexpr std::uint64_t kEntries = std::extent_v<decltype(Log::entries)>;
    std::vector<Entry> fresh;
    for (std::uint64_t n = count; n > entries_read_ && count - n < kEntries; --n) {
      fresh.push_back(log_->entries[(n - 1) % kEntries]);
      if (fresh.back().epoch < epoch) break;
    }
    for (auto entry = fresh.rbegin(); entry != fresh.rend(); ++entry) {
      const std::uint32_t epoch_before = entries_.empty() ? 0 : entries_.back().epoch;
      if (!is_valid(*entry) || entry->epoch < epoch_before) return false;
      entries_.push_back(*entry);
    }
    entries_read_ = count;
    // Forget entries before `epoch`, except the newest of them.
    const auto first = std::find_if(entries_.begin(), entries_.end(),
                                    [epoch](const Entry& entry) { return entry.epoch >= epoch; });
    if (first - entries_.begin() > 1) entries_.erase(entries_.begin(), first - 1);
    return true;
  }

  // Oldest first.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  const Log* log_ = nullptr;
  std::uint64_t entries_read_ = 0;  // of the log, since its start
  std::vector<Entry> entries_;
};

}  // namespace echoline::client
