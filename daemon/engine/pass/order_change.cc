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

// For messages.
std::string text_of(const FactorPlace& place) {
  return fmt::format("the echo factor cannot change at block {} of epoch {}", place.change.block,
                     place.epoch);
}

std::string text_of(const WeightPlace& place) {
  return fmt::format("the weights cannot change at row {} of epoch {}", place.change.row,
                     place.epoch);
}

bool follows(const StepWalk& walk, const FactorPlace& place) {
  return walk.factors().can_append(place.epoch, place.change);
}

bool follows(const StepWalk& walk, const WeightPlace& place) {
  return walk.history().weights.can_append(place.epoch, place.change);
}

// `make`(walk, ring) makes the change.
template <typename Place, typename Make>
Status change_at(Pass& pass, const Place& place, const Make& make) {
  Status status;
  const auto refuse = [&](const char* why) {
    status = Status(Code::kFailedPrecondition, fmt::format("{}: {}", text_of(place), why));
  };
  pass.join_table().change_order(
      JoinTable::Behind::kPlanned, [&](StepWalk& walk, ring::Ring& ring) {
        if (is_past(walk, place)) return refuse("this host is past it");
        if (!follows(walk, place)) {
          return refuse("it does not follow the changes before it on this host");
        }
        make(walk, ring);
      });
  return status;
}

// Two batches: a rank that is in one batch and looks for the next has counted its epoch's rows
// without the change.
std::uint64_t clear_rows(const Readers& readers) { return 2 * readers.batch_rows_most; }

// The end of the batch that holds the last walked row. A rank that was given its part of a batch is
// at the batch's end, also where the rows of other ranks are not walked yet.
plan::Position end_of_batch(const BatchGrid& grid, const StepWalk& walk) {
  const plan::Position walked = walk.position();
  const std::uint64_t first = grid.start.epoch == walked.epoch ? grid.start.row : 0;
  if (walked.row <= first) return walked;
  const std::uint64_t batches = (walked.row - first + grid.batch_rows - 1) / grid.batch_rows;
  return {walked.epoch, std::min(first + batches * grid.batch_rows, walk.epoch().rows())};
}

// The position that no reader's state has passed.
plan::Position foremost(const StepWalk& walk, const ring::Ring& ring, const Readers& readers) {
  const plan::Position walked = walk.position();
  plan::Position most = std::max(walked, readers.foremost);
  for (const BatchGrid& grid : readers.grids) {
    most = std::max(most, end_of_batch(grid, walk));
    // It may have skipped rows. Only a claim, so it counts within the epoch.
    const plan::Position next = ring.view(grid.reader).next;
    if (next.epoch != walked.epoch) continue;
    most = std::max(most, {walked.epoch, std::min(next.row, walk.epoch().rows())});
  }
  return most;
}

}  // namespace

Status check_factor_change(const Pass& pass) {
  const auto [history, oldest_epoch] = pass.join_table().needed_history();
  return check_room(history.factors.entries().size(), shm::kFactorLogEntries, "the factor",
                    oldest_epoch);
}

Status check_weight_change(const Pass& pass) {
  const auto [history, oldest_epoch] = pass.join_table().needed_history();
  return check_room(history.weights.entries().size(), shm::kWeightLogEntries, "the weights",
                    oldest_epoch);
}

std::optional<FactorStart> change_factor(Pass& pass, std::uint32_t factor, const Readers& readers) {
  std::optional<FactorStart> start;
  // Else what is planned would be taken back for nothing. It changes under the caller's lock only.
  if (pass.factors().factor() == factor) return start;
  pass.join_table().change_order(JoinTable::Behind::kBegun, [&](StepWalk& walk, ring::Ring& ring) {
    const shm::FactorLogEntry& entry =
        walk.change_factor(factor, clear_rows(readers), foremost(walk, ring, readers));
    ring.log_factor(entry);
    start = {
        .jobs = {}, .epoch = entry.since_epoch, .block = entry.block, .row = entry.since_row - 1};
  });
  return start;
}

std::optional<WeightStart> change_weights(Pass& pass, const Weights& weights,
                                          const Readers& readers) {
  std::optional<WeightStart> start;
  pass.join_table().change_order(JoinTable::Behind::kPlanned, [&](StepWalk& walk,
                                                                  ring::Ring& ring) {
    if (walk.history().weights.weights() == weights) return;
    const shm::WeightLogEntry& entry = walk.change_weights(weights, foremost(walk, ring, readers));
    ring.log_weights(entry);
    start = {.jobs = {}, .epoch = entry.epoch, .row = entry.row};
  });
  return start;
}

plan::Position first_free(const Pass& pass, const Readers& readers) {
  return pass.join_table().read_walk(
      [&](const StepWalk& walk) { return foremost(walk, pass.ring(), readers); });
}

FactorPlace place_of(const Pass& pass, std::uint32_t factor, const Readers& readers) {
  return pass.join_table().read_walk([&](const StepWalk& walk) {
    return engine::place_of(walk, factor, clear_rows(readers),
                            foremost(walk, pass.ring(), readers));
  });
}

WeightPlace place_of(const Pass& pass, const Weights& weights, const Readers& readers) {
  return pass.join_table().read_walk([&](const StepWalk& walk) {
    return engine::place_of(walk, weights, foremost(walk, pass.ring(), readers));
  });
}

Status change_factor_at(Pass& pass, const FactorPlace& place) {
  return change_at(pass, place, [&](StepWalk& walk, ring::Ring& ring) {
    ring.log_factor(walk.change_factor(place));
  });
}

Status change_weights_at(Pass& pass, const WeightPlace& place) {
  return change_at(pass, place, [&](StepWalk& walk, ring::Ring& ring) {
    ring.log_weights(walk.change_weights_at(place));
  });
}

}  // namespace echoline::engine
