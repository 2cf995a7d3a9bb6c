// Random small configurations for property tests, and how many of them a run tries.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plan/order_lists.h"
#include "plan/plan.h"

namespace echoline::plan::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + engine_() % (high - low + 1);
  }
  bool chance(std::uint64_t percent) { return between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

// `count` cases, multiplied by ECHOLINE_TEST_SCALE (a number, 1 by default). Builds with a
// sanitizer try a fifth.
int scaled(int count);

// A stream of at most `records_max` records in random shards, with any echo point; Plan::create may
// refuse it.
PlanSpec random_spec(Dice& dice, std::uint64_t records_max);
// The same with all uses of a record in one batch.
PlanSpec random_spec_within_steps(Dice& dice, std::uint64_t records_max);
// The same with an echo of records, and a window and a size that keep twins apart.
PlanSpec random_accepted_spec(Dice& dice, std::uint64_t records_max);
// A list of factor changes that the plan accepts.
std::vector<FactorChange> random_changes(Dice& dice, const Plan& plan);

std::uint64_t record_count(const PlanSpec& spec);
// The records of an epoch: all, or the entries of a list.
std::uint64_t epoch_records(const PlanSpec& spec);
// Lists of records for a spec, the first `length` of random permutations; `repeats`: with some
// records several times.
std::shared_ptr<const OrderLists> random_order(Dice& dice, std::uint64_t records,
                                               std::uint64_t length, bool repeats);
std::string describe(const PlanSpec& spec);

std::vector<RowUse> read_all(const EpochPlan& epoch);

}  // namespace echoline::plan::testing
