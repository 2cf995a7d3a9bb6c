// A change of the factor between any two batches leaves what was walked as it is, gives every
// record of the epoch its uses, and is all that a state needs to go on exactly.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "echoline/shm/factor_log.h"
#include "engine/walk/step_walk.h"

namespace echoline::engine {
namespace {

using plan::EchoPoint;
using plan::LastBatch;

constexpr std::uint32_t kEpochs = 3;

struct Walked {
  std::vector<Step> steps;
  FactorHistory factors;
};

plan::PlanSpec random_spec(std::mt19937& random) {
  const auto pick = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  plan::PlanSpec spec;
  spec.seed = random() % 1000;
  spec.lanes = pick(1U, 1U, 2U, 4U);
  spec.batch_rows = spec.lanes * pick(1U, 2U, 3U);
  spec.shuffle_window = pick(std::uint64_t{0}, std::uint64_t{17}, plan::kWindowAll);
  spec.echo_point = pick(EchoPoint::kRecord, EchoPoint::kAugmented, EchoPoint::kBatch);
  spec.factor_max = pick(2000U, 2500U, 3000U);
  spec.factor = pick(1000U, 1500U, 2000U);
  spec.echo_window = spec.echo_point == EchoPoint::kBatch ? 3 : spec.lanes * (10 + random() % 60);
  spec.allow_repeats = true;
  spec.last = pick(LastBatch::kDrop, LastBatch::kPartial, LastBatch::kPad);
  const std::uint64_t records = 200 + random() % 300;
  spec.shard_records = {records / 3, records - records / 3};
  return spec;
}

// Some epochs with up to `changes_most` changes at random places. Before some of them the walk goes
// back, as if its last steps had not been begun.
Walked walk_with_changes(const plan::Plan& plan, std::mt19937& random, std::size_t changes_most) {
  StepWalk walk(plan, {}, OrderHistory(plan), true);
  Walked walked{{}, FactorHistory(plan)};
  std::size_t begun = 0;
  while (true) {
    if (random() % 25 == 0 && walk.factors().entries().size() < changes_most) {
      if (!plan.spec().fixed_batches() && random() % 2 == 0) {
        begun += random() % (walked.steps.size() - begun + 1);
        walk.return_to(begun < walked.steps.size() ? walked.steps[begun].start : walk.position());
        walked.steps.resize(begun);
      }
      begun = walked.steps.size();
      const std::uint32_t span = (plan.spec().factor_max - 1000) / 125;
      const auto eighths = static_cast<std::uint32_t>(random() % (span + 1));
      walk.change_factor(1000 + 125 * eighths, 2 * plan.spec().batch_rows);
    }
    Step step = walk.next();
    if (step.start.epoch == kEpochs) break;
    walked.steps.push_back(std::move(step));
  }
  walked.factors = walk.factors();
  return walked;
}

void expect_same(const Step& one, const Step& other) {
  ASSERT_EQ(one.start, other.start);
  ASSERT_EQ(one.rows, other.rows);
  ASSERT_EQ(one.end_of_epoch, other.end_of_epoch);
  for (std::uint32_t row = 0; row < one.rows; ++row) {
    ASSERT_EQ(one.uses[row].record, other.uses[row].record);
    ASSERT_EQ(one.uses[row].use, other.uses[row].use);
    ASSERT_EQ(one.uses[row].uses, other.uses[row].uses);
  }
}

class FactorChange : public testing::TestWithParam<unsigned> {};

TEST_P(FactorChange, AStateGoesOnExactlyWithTheListThatItHolds) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  const Walked walked = walk_with_changes(*plan, random, 40);
  for (std::size_t from = 0; from < walked.steps.size(); from += 11) {
    const plan::Position start = walked.steps[from].start;
    // As a trainer brings it that lost its daemon.
    const auto known =
        shm::factors_from(walked.factors.entries(), start.epoch, plan->spec().factor);
    auto history = FactorHistory::of_state(*plan, start.epoch, known);
    ASSERT_TRUE(history.ok()) << history.status().message();
    EXPECT_TRUE(walked.factors.equals_from(start.epoch, *history));
    StepWalk resumed(*plan, start, {std::move(history).value(), WeightHistory(*plan)}, true);
    for (std::size_t at = from; at < walked.steps.size(); ++at) {
      expect_same(resumed.next(), walked.steps[at]);
      if (HasFatalFailure()) FAIL() << "from step " << from << ", at " << at;
    }
  }
}

// As a state is saved: what was known when its rows were planned; later changes are made again.
TEST_P(FactorChange, AStateBeforeAChangeIsThatOfARunWithoutIt) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  const Walked walked = walk_with_changes(*plan, random, 3);
  for (const shm::FactorLogEntry& entry : walked.factors.entries()) {
    const plan::Position before{entry.since_epoch, entry.since_row - 1};
    StepWalk without(*plan, {}, {walked.factors.as_of(before), WeightHistory(*plan)}, true);
    for (const Step& step : walked.steps) {
      if (step.start >= before) break;
      expect_same(without.next(), step);
      if (HasFatalFailure()) FAIL() << "change since row " << entry.since_row;
    }
  }
}

TEST_P(FactorChange, EveryRecordHasTheUsesOfItsBlock) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  if (plan->spec().echo_point == EchoPoint::kBatch) return;  // there batches have uses
  const Walked walked = walk_with_changes(*plan, random, 5);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::map<std::uint64_t, std::vector<std::uint32_t>> uses;
    std::uint64_t rows = 0;
    for (const Step& step : walked.steps) {
      if (step.start.epoch != epoch) continue;
      rows += step.rows;
      for (const plan::RowUse& use : step.uses) {
        EXPECT_EQ(use.use, uses[use.record].size()) << "uses count from 0 without gaps";
        uses[use.record].push_back(use.uses);
      }
    }
    EXPECT_EQ(rows, walked.factors.rows(epoch));
    EXPECT_EQ(uses.size(), plan->record_count());
    std::uint32_t least = plan->spec().factor_max;
    std::uint32_t most = 1000;
    for (const plan::FactorChange& change : walked.factors.list(epoch)) {
      least = std::min(least, change.factor);
      most = std::max(most, change.factor);
    }
    const auto list = walked.factors.list(epoch);
    if (list.empty() || list[0].block > 0) {
      least = std::min(least, plan->spec().factor);
      most = std::max(most, plan->spec().factor);
    }
    for (const auto& [record, planned] : uses) {
      EXPECT_EQ(planned.size(), planned.front()) << "record " << record;
      EXPECT_GE(planned.size(), least / 1000);
      EXPECT_LE(planned.size(), (most + 999) / 1000);
    }
  }
}

TEST_P(FactorChange, RowsSinceTheFirstOneCountEveryEpochAtItsLength) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  Walked walked = walk_with_changes(*plan, random, 20);
  std::uint64_t before = 0;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    EXPECT_EQ(walked.factors.absolute_row({epoch, 5}), before + 5);
    before += plan->epoch(epoch, walked.factors.list(epoch))->rows();
  }
  walked.factors.forget_before(kEpochs - 1);
  EXPECT_EQ(walked.factors.absolute_row({kEpochs, 0}), before);
}

// A trainer that came with a state is ahead of what is planned: the rows that it had are not to
// become others.
TEST_P(FactorChange, LeavesTheRowsBeforeAStatesPositionAsTheyWere) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  for (const std::uint32_t epoch : {0U, 1U}) {
    StepWalk walk(*plan, {}, OrderHistory(*plan), true);
    const std::uint64_t batch_rows = plan->spec().batch_rows;
    const plan::Position from{epoch, 20 * batch_rows};
    const std::uint32_t factor = plan->spec().factor == 1000 ? 2000 : 1000;
    const shm::FactorLogEntry entry = walk.change_factor(factor, 2 * batch_rows, from);
    EXPECT_GE((plan::Position{entry.since_epoch, entry.since_row}), from);
    const auto before = plan->epoch(epoch, {});
    const auto after = plan->epoch(epoch, walk.factors().list(epoch));
    for (std::uint64_t row = 0; row < from.row; ++row) {
      ASSERT_EQ(before->at(row).record, after->at(row).record) << "row " << row;
      ASSERT_EQ(before->at(row).use, after->at(row).use) << "row " << row;
    }
    // One that is made for nobody in particular must not begin before it.
    const shm::FactorLogEntry next = walk.change_factor(1500, 2 * batch_rows);
    EXPECT_GE(std::tie(next.epoch, next.block), std::tie(entry.epoch, entry.block));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FactorChange, testing::Range(0U, 40U));

// 200 records, batches of 10, factors from 1 to 2.
std::unique_ptr<plan::Plan> small_plan(std::uint32_t factor = 1000) {
  plan::PlanSpec spec;
  spec.batch_rows = 10;
  spec.echo_point = EchoPoint::kRecord;
  spec.factor = factor;
  spec.factor_max = 2000;
  spec.echo_window = 60;
  spec.allow_repeats = true;
  spec.shard_records = {200};
  return plan::Plan::create(spec).value();
}

TEST(FactorHistory, AChangeNearTheEndBeginsWithTheNextEpoch) {
  const auto plan = small_plan();
  StepWalk walk(*plan, {0, 190}, OrderHistory(*plan), false);
  const shm::FactorLogEntry& late = walk.change_factor(2000, 20);
  EXPECT_EQ(late.epoch, 1U);
  EXPECT_EQ(late.block, 0U);
  EXPECT_EQ(walk.factors().rows(0), 200U);
  EXPECT_EQ(walk.factors().rows(1), 400U);
  EXPECT_EQ(walk.factors().rows(2), 400U);
  EXPECT_TRUE(walk.factors().as_of({1, 0}).empty()) << "none of its rows was given out";
  EXPECT_FALSE(walk.factors().as_of({1, 10}).empty());
  EXPECT_EQ(walk.change_factor(1500, 20).epoch, 1U) << "epochs never go back";
  EXPECT_EQ(walk.factors().list(1), (std::vector<plan::FactorChange>{{0, 1500}}));
}

TEST(FactorHistory, AChangeThatWasToComeIsInNoStateBeforeItsFirstRow) {
  const auto plan = small_plan();
  const std::vector<shm::FactorEntry> brought{{0, 2000, 1}};
  const auto history = FactorHistory::of_state(*plan, 4, brought);
  ASSERT_TRUE(history.ok()) << history.status().message();
  EXPECT_TRUE(history->as_of({5, 0}).empty());
  EXPECT_FALSE(history->as_of({5, 1}).empty());
}

TEST(FactorHistory, KnowsNothingOfEpochsThatWereForgottenOrNeverTold) {
  const auto plan = small_plan();
  FactorHistory walked(*plan);
  for (const std::uint32_t epoch : {1U, 3U, 6U}) {
    walked.append(epoch, {0, 1000 + 100 * epoch}, {epoch, 1});
  }
  EXPECT_TRUE(walked.knows(0));
  walked.forget_before(7);
  EXPECT_FALSE(walked.knows(6));
  EXPECT_TRUE(walked.knows(7));
  EXPECT_EQ(walked.factor(), 1600U);
  const std::vector<shm::FactorEntry> brought{{0, 2000, 0}};
  const auto state = FactorHistory::of_state(*plan, 4, brought);
  ASSERT_TRUE(state.ok()) << state.status().message();
  EXPECT_FALSE(state->knows(3));
  EXPECT_TRUE(state->knows(4));
  EXPECT_TRUE(FactorHistory::of_state(*plan, 4, {})->knows(0)) << "no change, no secret";
}

TEST(FactorHistory, AStateThatCannotBeIsRefused) {
  const auto plan = small_plan(2000);
  const auto message = [&](std::vector<shm::FactorEntry> changes, std::uint32_t epoch = 0) {
    return FactorHistory::of_state(*plan, epoch, changes).status().message();
  };
  EXPECT_EQ(message({{1, 1500, 0}, {0, 1000, 1}}), "");
  EXPECT_NE(message({{1, 2500, 0}}).find("echo.max"), std::string::npos);
  EXPECT_NE(message({{2, 1500, 0}, {1, 1000, 0}}).find("does not come after"), std::string::npos);
  EXPECT_NE(message({{0, 1500, ~0U}}, 7).find("cannot be right"), std::string::npos);
}

}  // namespace
}  // namespace echoline::engine
