#include "engine/walk/weight_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "echoline/shm/factor_log.h"
#include "echoline/shm/weight_log.h"

namespace echoline::engine {
namespace {

Status refused(std::size_t index, const std::string& why) {
  return Status(Code::kInvalidArgument, fmt::format("weights: entry {}: {}", index, why));
}

// Its numbers; the plan checks them.
Status check_entry(std::span<const shm::WeightEntry> changes, std::size_t index,
                   std::uint32_t epoch) {
  const shm::WeightEntry& entry = changes[index];
  if (entry.source_count > shm::kMixSourcesMax) {
    return refused(index, fmt::format("{} sources", entry.source_count));
  }
  // Sums are checked without overflow.
  if (epoch >= plan::kEpochsMax || entry.ahead >= plan::kEpochsMax - epoch ||
      (index > 0 && entry.ahead < changes[index - 1].ahead)) {
    return refused(
        index, fmt::format("its epoch, {} after epoch {}, cannot be right", entry.ahead, epoch));
  }
  return {};
}

plan::WeightChange to_change(const shm::WeightEntry& entry) {
  return {entry.row, {entry.weights, entry.weights + entry.source_count}};
}

}  // namespace

Result<WeightHistory> WeightHistory::of_state(const plan::Plan& plan, std::uint32_t epoch,
                                              std::span<const shm::WeightEntry> changes) {
  WeightHistory history(plan);
  history.known_from_ = epoch;
  for (std::size_t begin = 0; begin < changes.size();) {
    const std::uint32_t ahead = changes[begin].ahead;
    std::vector<plan::WeightChange> list;
    // All entries of one epoch together: the plan checks them as a list.
    for (; begin < changes.size() && changes[begin].ahead == ahead; ++begin) {
      ECHOLINE_TRY(check_entry(changes, begin, epoch));
      list.push_back(to_change(changes[begin]));
    }
    ECHOLINE_TRY(plan.check_weights(list));
    // No row of an epoch ahead was given yet.
    const plan::Position since = ahead > 0 ? plan::Position{epoch + ahead, 1} : plan::Position{};
    for (const plan::WeightChange& change : list) history.append(epoch + ahead, change, since);
    // With the weights that the epoch begins with, and those of whole epochs after it.
    for (const std::uint32_t whole : {epoch + ahead, epoch + ahead + 1}) {
      ECHOLINE_TRY(plan.check_weights(history.list(whole)));
    }
  }
  return history;
}

Weights WeightHistory::weights() const {
  if (!plan_->spec().mix) return {};
  if (entries_.empty()) return plan_->spec().mix->weights;
  const shm::WeightLogEntry& last = entries_.back();
  return {last.weights, last.weights + last.source_count};
}

std::vector<plan::WeightChange> WeightHistory::list(std::uint32_t epoch) const {
  const auto later = std::ranges::upper_bound(entries_, epoch, {}, &shm::WeightLogEntry::epoch);
  std::vector<plan::WeightChange> changes;
  for (const shm::WeightEntry& entry : shm::weights_from({entries_.begin(), later}, epoch)) {
    changes.push_back(to_change(entry));
  }
  // To begin with the configured weights is no change.
  if (!changes.empty() && changes.front().row == 0 &&
      changes.front().weights == plan_->spec().mix->weights) {
    changes.erase(changes.begin());
  }
  return changes;
}

WeightHistory WeightHistory::as_of(plan::Position position) const {
  WeightHistory then(*this);
  std::erase_if(then.entries_, [&](const shm::WeightLogEntry& entry) {
    return !shm::holds_at(entry, position.epoch, position.row);
  });
  return then;
}

bool WeightHistory::equals_from(std::uint32_t epoch, const WeightHistory& other) const {
  if (list(epoch) != other.list(epoch)) return false;
  // Epochs between the entries follow from them.
  const auto agrees = [&](const shm::WeightLogEntry& entry) {
    return entry.epoch <= epoch || list(entry.epoch) == other.list(entry.epoch);
  };
  return std::ranges::all_of(entries_, agrees) && std::ranges::all_of(other.entries_, agrees);
}

bool WeightHistory::can_append(std::uint32_t epoch, const plan::WeightChange& change) const {
  if (!entries_.empty() && entries_.back().epoch > epoch) return false;
  std::vector<plan::WeightChange> changes = list(epoch);
  if (!changes.empty() && changes.back().row == change.row) changes.pop_back();
  changes.push_back(change);
  return plan_->check_weights(changes).ok();
}

const shm::WeightLogEntry& WeightHistory::append(std::uint32_t epoch,
                                                 const plan::WeightChange& change,
                                                 plan::Position since) {
  ECHOLINE_CHECK(change.weights.size() <= shm::kMixSourcesMax);
  shm::WeightLogEntry& entry = entries_.emplace_back();
  entry.row = change.row;
  entry.since_row = since.row;
  entry.since_epoch = since.epoch;
  entry.epoch = epoch;
  entry.source_count = static_cast<std::uint32_t>(change.weights.size());
  std::ranges::copy(change.weights, entry.weights);
  return entry;
}

void WeightHistory::begin_with(std::uint32_t epoch, const Weights& weights) {
  if (weights != this->weights()) append(epoch, {0, weights}, {});
}

void WeightHistory::forget_before(std::uint32_t epoch) {
  const auto first = std::ranges::lower_bound(entries_, epoch, {}, &shm::WeightLogEntry::epoch);
  if (first - entries_.begin() <= 1) return;  // the last one before carries its weights on
  known_from_ = epoch;
  entries_.erase(entries_.begin(), first - 1);
}

}  // namespace echoline::engine
