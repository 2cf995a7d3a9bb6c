// Changes of a pass's echo factor (semantics.md, Changing the factor). What is planned stays as it
// is; the lock of the join table puts a change between two planned steps.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "engine/api/stats.h"
#include "engine/pass/join_table.h"
#include "engine/walk/factor_history.h"
#include "engine/walk/step_walk.h"
#include "plan/position.h"

namespace echoline::engine {

// Any thread. The table outlives it.
class FactorChanges {
 public:
  explicit FactorChanges(JoinTable& table) : table_(table) {}

  // The changes that matter to the readers that are left.
  FactorHistory history() const;
  // Whether a trainer with this state gets the rows here that its state promises. `strict`: not
  // even with changes after that position, which the state's run may not have.
  bool follows(plan::Position position, const FactorHistory& state, bool strict = false) const;
  // kResourceExhausted if the log of changes is full.
  Status check() const;
  // What a change has to respect of the jobs that read the pass.
  struct Readers {
    std::uint64_t batch_rows_most = 0;
    plan::Position foremost;  // of the states that they came with: earlier rows are fixed
  };
  // Changes the factor from the next unplanned block on; nothing if it is the present one. The
  // caller fills in the jobs. Only after check(), in the same step of the stream.
  std::optional<FactorStart> change(std::uint32_t factor, const Readers& readers);

  // Where hosts agree ---------------------------------------------------------------------------

  // From where on nothing is planned, nor fixed by the states of the readers.
  plan::Position first_free(const Readers& readers) const;
  // The place at which change() would put the change.
  FactorPlace place_of(std::uint32_t factor, const Readers& readers) const;
  // As change(), at a place that was agreed upon. See StepWalk.
  Status change_at(const FactorPlace& place);

 private:
  JoinTable& table_;
};

}  // namespace echoline::engine
