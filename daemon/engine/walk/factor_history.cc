#include "engine/walk/factor_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "echoline/shm/factor_log.h"

namespace echoline::engine {
namespace {

std::vector<plan::FactorChange> to_changes(const std::vector<shm::FactorEntry>& entries) {
  std::vector<plan::FactorChange> changes;
  for (const shm::FactorEntry& entry : entries) changes.push_back({entry.block, entry.factor});
  return changes;
}

}  // namespace

Result<FactorHistory> FactorHistory::of_state(const plan::Plan& plan, std::uint32_t epoch,
                                              std::span<const shm::FactorEntry> changes) {
  FactorHistory history(plan);
  // What the state does not tell, this history does not know (knows()).
  history.known_from_ = epoch;
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::uint32_t ahead = changes[begin].ahead;
    // Entries must be in the order of their epochs; sums are checked without overflow.
    if (epoch >= plan::kEpochsMax || ahead >= plan::kEpochsMax - epoch ||
        (begin > 0 && ahead < changes[begin - 1].ahead)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("factor list: entry {}: its epoch, {} after epoch {}, cannot be right", begin,
                      ahead, epoch));
    }
    std::vector<plan::FactorChange> list;
    // All entries of one epoch together: the plan checks them as a list.
    for (; begin < changes.size() && changes[begin].ahead == ahead; ++begin) {
      list.push_back({changes[begin].block, changes[begin].factor});
    }
    ECHOLINE_TRY(plan.check_changes(list));
    // No row of an epoch ahead was given yet.
    const plan::Position since = ahead > 0 ? plan::Position{epoch + ahead, 1} : plan::Position{};
    for (const plan::FactorChange& change : list) history.append(epoch + ahead, change, since);
  }
  // Later epochs all have the last factor, so checking that one is enough.
  if (history.has_empty_epochs()) {
    return Status(Code::kInvalidArgument,
                  "factor list: with its last factor an epoch has less than a batch (last: drop)");
  }
  return history;
}

std::vector<plan::FactorChange> FactorHistory::list(std::uint32_t epoch) const {
  return to_changes(shm::factors_of(entries_, epoch, plan_->spec().factor));
}

std::uint64_t FactorHistory::rows(std::uint32_t epoch) const {
  return shm::rows_of(entries_, epoch, plan_->rows_per_epoch());
}

bool FactorHistory::has_empty_epochs() const {
  const plan::PlanSpec& spec = plan_->spec();
  return spec.last == plan::LastBatch::kDrop && !entries_.empty() &&
         entries_.back().rows_after < spec.batch_rows;
}

std::uint64_t FactorHistory::rows_before(std::uint32_t epoch) const {
  // Walks from entry to entry. Epochs between two entries have equally many rows, so a factor that
  // changed long ago costs no loop over epochs.
  std::uint64_t total = rows_before_known_;
  std::uint32_t at = known_from_;
  for (const shm::FactorLogEntry& entry : entries_) {
    // The rows of forgotten epochs are in `rows_before_known_` already.
    if (entry.epoch < at) continue;
    if (entry.epoch >= epoch) break;
    // All epochs up to the entry's have as many rows as the first of them.
    total += std::uint64_t{entry.epoch - at} * rows(at) + rows(entry.epoch);
    at = entry.epoch + 1;
  }
  return epoch > at ? total + std::uint64_t{epoch - at} * rows(at) : total;
}

std::uint64_t FactorHistory::absolute_row(plan::Position position) const {
  return rows_before(position.epoch) + position.row;
}

FactorHistory FactorHistory::as_of(plan::Position position) const {
  FactorHistory then(*this);
  std::erase_if(then.entries_, [&](const shm::FactorLogEntry& entry) {
    return !shm::holds_at(entry, position.epoch, position.row);
  });
  return then;
}

bool FactorHistory::equals_from(std::uint32_t epoch, const FactorHistory& other) const {
  if (list(epoch) != other.list(epoch)) return false;
  // Epochs between the entries follow from them, so comparing at each entry of both is enough.
  const auto agrees = [&](const shm::FactorLogEntry& entry) {
    return entry.epoch <= epoch || list(entry.epoch) == other.list(entry.epoch);
  };
  return std::all_of(entries_.begin(), entries_.end(), agrees) &&
         std::all_of(other.entries_.begin(), other.entries_.end(), agrees);
}

bool FactorHistory::can_append(std::uint32_t epoch, plan::FactorChange change) const {
  if (!entries_.empty() && entries_.back().epoch > epoch) return false;
  std::vector<plan::FactorChange> changes = list(epoch);
  if (!changes.empty() && changes.back().block == change.block) changes.pop_back();
  changes.push_back(change);
  return plan_->check_changes(changes).ok();
}

const shm::FactorLogEntry& FactorHistory::append(std::uint32_t epoch, plan::FactorChange change,
                                                 plan::Position since) {
  shm::FactorLogEntry entry{};
  entry.epoch = epoch;
  entry.block = change.block;
  entry.factor = change.factor;
  entry.since_epoch = since.epoch;
  entry.since_row = since.row;
  // Appended before its rows are counted: list() has to contain it.
  entries_.push_back(entry);
  // A whole epoch's rows do not depend on which epoch it is.
  entries_.back().rows = plan_->epoch(epoch, list(epoch))->rows();
  entries_.back().rows_after = plan_->epoch(epoch, list(epoch + 1))->rows();
  return entries_.back();
}

void FactorHistory::forget_before(std::uint32_t epoch) {
  const auto first =
      std::find_if(entries_.begin(), entries_.end(),
                   [epoch](const shm::FactorLogEntry& entry) { return entry.epoch >= epoch; });
  if (first - entries_.begin() <= 1) return;  // the last one before carries its factor on
  // Before `known_from_` changes, because rows_before counts from it.
  rows_before_known_ = rows_before(epoch);
  known_from_ = epoch;
  entries_.erase(entries_.begin(), first - 1);
}

}  // namespace echoline::engine
