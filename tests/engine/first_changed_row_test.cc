// A change of the factor shows exactly at the row that is reported.
#include "engine/stream/first_changed_row.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/walk/step_walk.h"

namespace echoline::engine {
namespace {

plan::PlanSpec spec_of(std::mt19937& random) {
  plan::PlanSpec spec;
  spec.seed = random() % 1000;
  spec.batch_rows = 4;
  spec.lanes = static_cast<std::uint32_t>(random() % 2 + 1);
  spec.shuffle_window = random() % 2 == 0 ? 17 : plan::kWindowAll;
  spec.echo_point = random() % 4 == 0 ? plan::EchoPoint::kBatch : plan::EchoPoint::kRecord;
  spec.factor = static_cast<std::uint32_t>(1000 + 500 * (random() % 3));
  spec.factor_max = 3000;
  spec.echo_window = spec.echo_point == plan::EchoPoint::kBatch ? 3 : 80;
  spec.allow_repeats = true;
  spec.last = plan::LastBatch::kPartial;
  spec.shard_records = {150, 130 + random() % 100};
  return spec;
}

// All rows of two epochs, as a trainer sees them.
std::vector<std::tuple<plan::Position, std::uint64_t, std::uint32_t, std::uint32_t>> rows_of(
    const plan::Plan& plan, const FactorHistory& factors) {
  std::vector<std::tuple<plan::Position, std::uint64_t, std::uint32_t, std::uint32_t>> rows;
  StepWalk walk(plan, {}, {factors, WeightHistory(plan)}, true);
  while (true) {
    const Step step = walk.next();
    if (step.start.epoch == 2) return rows;
    for (std::uint32_t row = 0; row < step.rows; ++row) {
      rows.push_back({{step.start.epoch, step.start.row + row},
                      step.uses[row].record,
                      step.uses[row].use,
                      step.batch.use});
    }
  }
}

class FirstChangedRow : public testing::TestWithParam<unsigned> {};

TEST_P(FirstChangedRow, IsTheFirstThatATrainerSeesDiffer) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(spec_of(random)).value();
  const FactorHistory before(*plan);
  StepWalk walk(*plan, {0, 4 * (random() % 20)}, {before, WeightHistory(*plan)}, true);
  const shm::FactorLogEntry entry =
      walk.change_factor(static_cast<std::uint32_t>(1000 + 250 * (random() % 9)), 8);
  const plan::Position bound{entry.since_epoch, entry.since_row - 1};
  const plan::Position found = first_changed_row(*plan, before, walk.factors(), bound);
  const auto old_rows = rows_of(*plan, before), new_rows = rows_of(*plan, walk.factors());
  std::size_t same = 0;
  while (same < old_rows.size() && same < new_rows.size() && old_rows[same] == new_rows[same]) {
    ++same;
  }
  if (same == old_rows.size() && same == new_rows.size()) {
    EXPECT_EQ(found, bound);
    return;
  }
  ASSERT_LT(same, new_rows.size());
  const plan::Position differs =
      same < old_rows.size() && std::get<0>(old_rows[same]) < std::get<0>(new_rows[same])
          ? std::get<0>(old_rows[same])
          : std::get<0>(new_rows[same]);
  // Where one epoch ends earlier, its end is the row that differs.
  EXPECT_EQ(found, differs) << "bound: epoch " << bound.epoch << " row " << bound.row;
  EXPECT_GE(found, bound);
}

INSTANTIATE_TEST_SUITE_P(Random, FirstChangedRow, testing::Range(0U, 60U));

}  // namespace
}  // namespace echoline::engine
