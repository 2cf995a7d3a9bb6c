#include "factor_changes.h"

#include <algorithm>
#include <iterator>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

bool plausible(const shm::FactorLogEntry& entry, std::uint32_t epoch_before) {
  return entry.factor >= 1000 && entry.epoch >= epoch_before && entry.rows > 0 &&
         entry.rows_after > 0;
}

}  // namespace

void FactorChanges::follow(const shm::FactorLog* log, std::uint32_t plan_factor,
                           std::uint64_t plan_rows) {
  log_ = log;
  plan_factor_ = plan_factor;
  plan_rows_ = plan_rows;
  taken_ = 0;
  entries_.clear();
}

bool FactorChanges::update(std::uint32_t epoch) {
  if (log_ == nullptr) return true;
  const std::uint64_t count = shm::read_factor_count(*log_);
  if (count == taken_) return true;
  // Back to the first entry that matters: older ones may be written over meanwhile.
  std::vector<shm::FactorLogEntry> fresh;
  for (std::uint64_t n = count; n > taken_ && count - n < shm::kFactorLogEntries; --n) {
    fresh.push_back(log_->entries[(n - 1) % shm::kFactorLogEntries]);
    if (fresh.back().epoch < epoch) break;
  }
  for (auto entry = fresh.rbegin(); entry != fresh.rend(); ++entry) {
    if (!plausible(*entry, entries_.empty() ? 0 : entries_.back().epoch)) return false;
    entries_.push_back(*entry);
  }
  taken_ = count;
  // Of what is over, the last one says with which factor it went on.
  const auto first =
      std::find_if(entries_.begin(), entries_.end(),
                   [epoch](const shm::FactorLogEntry& entry) { return entry.epoch >= epoch; });
  if (first - entries_.begin() > 1) entries_.erase(entries_.begin(), first - 1);
  return true;
}

std::vector<std::uint32_t> FactorChanges::border_epochs(std::uint32_t from) const {
  std::vector<std::uint32_t> epochs{from};
  for (const shm::FactorLogEntry& entry : entries_) {
    // Into the epoch of the change, out of it, and from then on.
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
