#include "loader/factor_changes.h"

#include <algorithm>
#include <iterator>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

bool is_valid(const shm::FactorLogEntry& entry, std::uint32_t epoch_before) {
  // A factor below 1, descending epochs and empty epochs cannot be right.
  return entry.factor >= 1000 && entry.epoch >= epoch_before && entry.rows > 0 &&
         entry.rows_after > 0;
}

}  // namespace

void FactorChanges::follow(const shm::FactorLog* log, std::uint32_t plan_factor,
                           std::uint64_t plan_rows) {
  log_ = log;
  plan_factor_ = plan_factor;
  plan_rows_ = plan_rows;
  entries_read_ = 0;
  entries_.clear();
}

bool FactorChanges::update(std::uint32_t epoch) {
  if (log_ == nullptr) return true;
  // One atomic load shows whether anything is new.
  const std::uint64_t count = shm::read_factor_count(*log_);
  if (count == entries_read_) return true;
  // Read backwards from the newest entry and stop at the first one before `epoch`: the daemon may
  // overwrite older entries at any time.
  std::vector<shm::FactorLogEntry> fresh;
  for (std::uint64_t n = count; n > entries_read_ && count - n < shm::kFactorLogEntries; --n) {
    fresh.push_back(log_->entries[(n - 1) % shm::kFactorLogEntries]);
    if (fresh.back().epoch < epoch) break;
  }
  for (auto entry = fresh.rbegin(); entry != fresh.rend(); ++entry) {
    if (!is_valid(*entry, entries_.empty() ? 0 : entries_.back().epoch)) return false;
    entries_.push_back(*entry);
  }
  entries_read_ = count;
  // Forget entries before `epoch`, except the newest of them.
  const auto first =
      std::find_if(entries_.begin(), entries_.end(),
                   [epoch](const shm::FactorLogEntry& entry) { return entry.epoch >= epoch; });
  if (first - entries_.begin() > 1) entries_.erase(entries_.begin(), first - 1);
  return true;
}

std::vector<std::uint32_t> FactorChanges::border_epochs(std::uint32_t from) const {
  std::vector<std::uint32_t> epochs{from};
  for (const shm::FactorLogEntry& entry : entries_) {
    // The transitions into the epoch of the change, out of it, and between two epochs after it.
    if (entry.epoch > from) epochs.push_back(entry.epoch - 1);
    for (const std::uint32_t epoch : {entry.epoch, entry.epoch + 1}) {
      if (epoch > from) epochs.push_back(epoch);
    }
  }
  return epochs;
}

std::vector<shm::FactorEntry> FactorChanges::of_state(const Position& position) const {
  std::vector<shm::FactorLogEntry> known;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(known),
               [&](const shm::FactorLogEntry& entry) {
                 return shm::holds_at(entry, position.epoch, position.row);
               });
  return shm::factors_of(known, position.epoch, plan_factor_);
}

}  // namespace echoline::client
