#include "engine/pass/order_change.h"

#include <fmt/format.h>

#include <algorithm>

namespace echoline::engine {
namespace {

Status check_room(std::size_t entries, std::size_t entries_max, const char* what,
                  std::uint32_t oldest_epoch) {
  if (entries < entries_max) return {};
  return Status(Code::kResourceExhausted,
                fmt::format("{} changes of {} an epoch are possible, and so many were made "
                            "since the first row of epoch {}, which trainers still read; try again "
                            "in the next epoch",
                            entries_max, what, oldest_epoch));
}

// Two batches: a rank that is in one batch and looks for the next has counted its epoch's rows
// without the change.
std::uint64_t clear_rows(const Readers& readers) { return 2 * readers.batch_rows_most; }

}  // namespace

Status check_factor_change(const Pass& pass) {
  const auto [history, oldest_epoch] = pass.needed_history();
  return check_room(history.factors.entries().size(), shm::kFactorLogEntries, "the factor",
                    oldest_epoch);
}

Status check_weight_change(const Pass& pass) {
  const auto [history, oldest_epoch] = pass.needed_history();
  return check_room(history.weights.entries().size(), shm::kWeightLogEntries, "the weights",
                    oldest_epoch);
}

std::optional<FactorStart> change_factor(Pass& pass, std::uint32_t factor, const Readers& readers) {
  std::optional<FactorStart> start;
  pass.change_order([&](StepWalk& walk, ring::Ring& ring) {
    if (walk.factors().factor() == factor) return;
    const shm::FactorLogEntry& entry =
        walk.change_factor(factor, clear_rows(readers), readers.foremost);
    ring.log_factor(entry);
    start = {
        .jobs = {}, .epoch = entry.since_epoch, .block = entry.block, .row = entry.since_row - 1};
  });
  return start;
}

plan::Position first_free(const Pass& pass, const Readers& readers) {
  return std::max(pass.planned_position(), readers.foremost);
}

FactorPlace place_of(const Pass& pass, std::uint32_t factor, const Readers& readers) {
  return pass.place_of(factor, clear_rows(readers), readers.foremost);
}

Status change_factor_at(Pass& pass, const FactorPlace& place) {
  Status status;
  pass.change_order([&](StepWalk& walk, ring::Ring& ring) {
    const auto entry = walk.change_factor_at(place);
    if (entry.ok()) ring.log_factor(*entry.value());
    status = entry.status();
  });
  return status;
}

std::optional<WeightStart> change_weights(Pass& pass, const Weights& weights,
                                          const Readers& readers) {
  std::optional<WeightStart> start;
  pass.change_order([&](StepWalk& walk, ring::Ring& ring) {
    if (walk.history().weights.weights() == weights) return;
    const shm::WeightLogEntry& entry = walk.change_weights(weights, readers.foremost);
    ring.log_weights(entry);
    start = {.jobs = {}, .epoch = entry.epoch, .row = entry.row};
  });
  return start;
}

}  // namespace echoline::engine
