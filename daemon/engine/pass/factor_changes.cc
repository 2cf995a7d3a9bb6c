#include "engine/pass/factor_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace echoline::engine {
namespace {

// Two batches: a rank that is in one batch and looks for the next has counted its epoch's rows
// without the change.
std::uint64_t clear_rows(const FactorChanges::Readers& readers) {
  return 2 * readers.batch_rows_most;
}

}  // namespace

FactorHistory FactorChanges::history() const {
  return table_.with_walk([](const JoinTable::Walk& at) { return at.walk.factors(); });
}

bool FactorChanges::follows(plan::Position position, const FactorHistory& state,
                            bool strict) const {
  const FactorHistory here = history();
  if (!here.knows(position.epoch)) return false;
  // A state that was saved before a change takes part in the change, as an uninterrupted reader
  // does. A trainer that lost its daemon, or is moved here, brings all changes that it has seen.
  return here.equals_from(position.epoch, state) ||
         (!strict && here.as_of(position).equals_from(position.epoch, state));
}

Status FactorChanges::check() const {
  return table_.with_walk([](const JoinTable::Walk& at) {
    FactorHistory needed = at.walk.factors();
    // What change() will forget does not count.
    needed.forget_before(at.oldest_epoch);
    if (needed.entries().size() < shm::kFactorLogEntries) return Status();
    return Status(Code::kResourceExhausted,
                  fmt::format("{} changes of the factor an epoch are possible, and so many were "
                              "made since the first row of epoch {}, which trainers still read; "
                              "try again in the next epoch",
                              shm::kFactorLogEntries, at.oldest_epoch));
  });
}

std::optional<FactorStart> FactorChanges::change(std::uint32_t factor, const Readers& readers) {
  return table_.with_walk([&](const JoinTable::Walk& at) -> std::optional<FactorStart> {
    if (at.walk.factors().factor() == factor) return std::nullopt;
    // Makes room in the ring's log, which holds kFactorLogEntries.
    at.walk.forget_factors_before(at.oldest_epoch);
    const shm::FactorLogEntry& entry =
        at.walk.change_factor(factor, clear_rows(readers), readers.foremost);
    // Logged before any batch with the new factor can be published: trainers need it to name
    // positions.
    at.ring.log_factor(entry);
    return FactorStart{
        .jobs = {}, .epoch = entry.since_epoch, .block = entry.block, .row = entry.since_row - 1};
  });
}

plan::Position FactorChanges::first_free(const Readers& readers) const {
  return table_.with_walk(
      [&](const JoinTable::Walk& at) { return std::max(at.walk.position(), readers.foremost); });
}

FactorPlace FactorChanges::place_of(std::uint32_t factor, const Readers& readers) const {
  return table_.with_walk([&](const JoinTable::Walk& at) {
    return at.walk.place_of(factor, clear_rows(readers), readers.foremost);
  });
}

Status FactorChanges::change_at(const FactorPlace& place) {
  return table_.with_walk([&](const JoinTable::Walk& at) {
    at.walk.forget_factors_before(at.oldest_epoch);
    const auto entry = at.walk.change_factor_at(place);
    if (entry.ok()) at.ring.log_factor(*entry.value());
    return entry.status();
  });
}

}  // namespace echoline::engine
