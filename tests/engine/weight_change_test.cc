// A change of a mixture's weights between any two batches leaves what was walked as it is, and is
// all that a state needs to go on exactly, also together with changes of the echo factor.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "echoline/shm/factor_log.h"
#include "echoline/shm/weight_log.h"
#include "engine/walk/step_walk.h"

namespace echoline::engine {
namespace {

using plan::EchoPoint;
using plan::LastBatch;

constexpr std::uint32_t kEpochs = 3;

struct Walked {
  std::vector<Step> steps;
  OrderHistory history;
};

plan::PlanSpec random_spec(std::mt19937& random) {
  const auto pick = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  plan::PlanSpec spec;
  spec.seed = random() % 1000;
  spec.lanes = pick(1U, 1U, 2U, 4U);
  spec.batch_rows = spec.lanes * pick(2U, 4U);
  spec.shuffle_window = pick(std::uint64_t{0}, std::uint64_t{17}, plan::kWindowAll);
  spec.echo_point = pick(EchoPoint::kNone, EchoPoint::kRecord, EchoPoint::kBatch);
  spec.within_step = spec.echo_point == EchoPoint::kRecord && random() % 3 == 0;
  if (spec.echo_point != EchoPoint::kNone) {
    spec.factor = 2000;
    spec.factor_max = spec.within_step ? 2000U : 3000U;
    spec.echo_window = spec.echo_point == EchoPoint::kBatch ? 3 : spec.lanes * 20;
    spec.allow_repeats = true;
  }
  spec.last = pick(LastBatch::kDrop, LastBatch::kPartial);
  spec.shard_records = {60, 80, 100};
  spec.mix = plan::MixSpec{.shards = {1, 1, 1}, .weights = {500, 300, 200}};
  spec.mix->at_end = pick(plan::MixEnd::kDrop, plan::MixEnd::kRepeat);
  if (spec.mix->at_end == plan::MixEnd::kRepeat) spec.mix->rows = 300;
  return spec;
}

Weights random_weights(std::mt19937& random) {
  Weights weights;
  for (int i = 0; i < 3; ++i) weights.push_back(static_cast<std::uint32_t>(1 + random() % 900));
  return weights;
}

// Some epochs with up to `changes_most` changes of the weights, and some of the factor. Before
// these the walk goes back, as if its last steps had not been begun.
Walked walk_with_changes(const plan::Plan& plan, std::mt19937& random, std::size_t changes_most) {
  StepWalk walk(plan, {}, OrderHistory(plan), true);
  Walked walked{{}, OrderHistory(plan)};
  const bool echoes = plan.block_count() > 0;
  std::size_t begun = 0;
  while (true) {
    if (random() % 12 == 0 && walk.history().weights.entries().size() < changes_most) {
      walk.change_weights(random_weights(random));
    }
    if (echoes && random() % 30 == 0 && walk.factors().entries().size() < 4) {
      const auto halves = static_cast<std::uint32_t>(random() % 5);
      begun += random() % (walked.steps.size() - begun + 1);
      if (begun < walked.steps.size() && !plan.spec().fixed_batches()) {
        walk.return_to(walked.steps[begun].start);
        walked.steps.resize(begun);
      }
      walk.change_factor(1000 + 500 * halves, 2 * plan.spec().batch_rows);
    }
    Step step = walk.next();
    if (step.start.epoch == kEpochs) break;
    walked.steps.push_back(std::move(step));
  }
  walked.history = walk.history();
  return walked;
}

void expect_same(const Step& one, const Step& other) {
  ASSERT_EQ(one.start, other.start);
  ASSERT_EQ(one.rows, other.rows);
  ASSERT_EQ(one.end_of_epoch, other.end_of_epoch);
  for (std::uint32_t row = 0; row < one.rows; ++row) {
    ASSERT_EQ(one.uses[row].record, other.uses[row].record);
    ASSERT_EQ(one.uses[row].use, other.uses[row].use);
    ASSERT_EQ(one.uses[row].first_draw, other.uses[row].first_draw);
  }
}

// As a trainer brings it.
OrderHistory brought(const plan::Plan& plan, const OrderHistory& history, std::uint32_t epoch) {
  const auto factors = shm::factors_from(history.factors.entries(), epoch, plan.spec().factor);
  const auto weights = shm::weights_from(history.weights.entries(), epoch);
  auto of_factors = FactorHistory::of_state(plan, epoch, factors);
  auto of_weights = WeightHistory::of_state(plan, epoch, weights);
  EXPECT_TRUE(of_factors.ok() && of_weights.ok()) << of_weights.status().message();
  return {std::move(of_factors).value(), std::move(of_weights).value()};
}

class WeightChange : public testing::TestWithParam<unsigned> {};

TEST_P(WeightChange, AStateGoesOnExactlyWithTheListsThatItHolds) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  const Walked walked = walk_with_changes(*plan, random, 12);
  for (std::size_t from = 0; from < walked.steps.size(); from += 7) {
    const plan::Position start = walked.steps[from].start;
    OrderHistory history = brought(*plan, walked.history, start.epoch);
    EXPECT_TRUE(walked.history.equals_from(start.epoch, history));
    StepWalk resumed(*plan, start, std::move(history), true);
    for (std::size_t at = from; at < walked.steps.size(); ++at) {
      expect_same(resumed.next(), walked.steps[at]);
      if (HasFatalFailure()) FAIL() << "from step " << from << ", at " << at;
    }
  }
}

TEST_P(WeightChange, AStateBeforeAChangeIsThatOfARunWithoutIt) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  const Walked walked = walk_with_changes(*plan, random, 3);
  for (const shm::WeightLogEntry& entry : walked.history.weights.entries()) {
    const plan::Position before{entry.since_epoch, entry.since_row - 1};
    StepWalk without(*plan, {}, walked.history.as_of(before), true);
    for (const Step& step : walked.steps) {
      if (step.start >= before) break;
      expect_same(without.next(), step);
      if (HasFatalFailure()) FAIL() << "change since row " << entry.since_row;
    }
  }
}

TEST_P(WeightChange, LeavesTheRowsBeforeAStatesPositionAsTheyWere) {
  std::mt19937 random(GetParam());
  const auto plan = plan::Plan::create(random_spec(random)).value();
  for (const std::uint32_t epoch : {0U, 1U}) {
    StepWalk walk(*plan, {}, OrderHistory(*plan), true);
    const plan::Position from{epoch, 10 * plan->spec().batch_rows};
    const shm::WeightLogEntry entry = walk.change_weights({1, 1, 1000}, from);
    EXPECT_GE((plan::Position{entry.since_epoch, entry.since_row}), from);
    const auto before = plan->epoch(epoch, {});
    const auto after = walk.history().order(*plan, epoch);
    for (std::uint64_t row = 0; row < from.row; ++row) {
      ASSERT_EQ(before->at(row).record, after->at(row).record) << "row " << row;
    }
    // One that is made for nobody in particular must not begin before it.
    const shm::WeightLogEntry next = walk.change_weights({1000, 1, 1});
    EXPECT_GE(std::tie(next.epoch, next.row), std::tie(entry.epoch, entry.row));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, WeightChange, testing::Range(0U, 40U));

// Two sources of 100 records, epochs of 200 rows, batches of 10.
std::unique_ptr<plan::Plan> small_plan() {
  plan::PlanSpec spec;
  spec.batch_rows = 10;
  spec.shard_records = {100, 100};
  spec.mix = plan::MixSpec{
      .shards = {1, 1}, .weights = {500, 500}, .at_end = plan::MixEnd::kRepeat, .rows = 200};
  return plan::Plan::create(spec).value();
}

TEST(WeightHistory, WithoutEchoAChangeBeginsWithTheNextBatch) {
  const auto plan = small_plan();
  StepWalk walk(*plan, {}, OrderHistory(*plan), false);
  walk.next();
  const shm::WeightLogEntry entry = walk.change_weights({900, 100});
  EXPECT_EQ(std::tie(entry.epoch, entry.row), std::make_tuple(0U, std::uint64_t{10}));
  const Step step = walk.next();
  EXPECT_EQ(std::ranges::count_if(step.uses, [](const auto& use) { return use.record < 100; }), 9);
  EXPECT_TRUE(walk.history().weights.as_of({0, 10}).empty()) << "its batch was not given out";
  EXPECT_FALSE(walk.history().weights.as_of({0, 20}).empty());
  EXPECT_EQ(walk.history().weights.list(1), (std::vector<plan::WeightChange>{{0, {900, 100}}}));
}

TEST(WeightHistory, AChangeAfterTheLastBatchBeginsWithTheNextEpoch) {
  const auto plan = small_plan();
  StepWalk walk(*plan, {0, 190}, OrderHistory(*plan), false);
  walk.next();
  EXPECT_EQ(walk.change_weights({900, 100}).epoch, 1U);
  EXPECT_TRUE(walk.history().weights.list(0).empty());
  EXPECT_TRUE(walk.history().weights.as_of({1, 0}).empty()) << "none of its rows was given out";
  walk.change_weights({500, 500});
  EXPECT_EQ(walk.history().weights.list(1), std::vector<plan::WeightChange>())
      << "the configured ones again, before any row";
}

TEST(WeightHistory, ForgetsWhatNobodyReadsAndKnowsThat) {
  const auto plan = small_plan();
  WeightHistory history(*plan);
  for (const std::uint32_t epoch : {1U, 3U, 6U}) {
    history.append(epoch, {.row = 5, .weights = {epoch, 1}}, {epoch, 1});
  }
  EXPECT_TRUE(history.knows(0));
  history.forget_before(7);
  EXPECT_FALSE(history.knows(6));
  EXPECT_TRUE(history.knows(7));
  EXPECT_EQ(history.weights(), (Weights{6, 1}));
  EXPECT_EQ(history.list(7), (std::vector<plan::WeightChange>{{0, {6, 1}}}));
}

TEST(WeightHistory, AStateThatCannotBeIsRefused) {
  const auto plan = small_plan();
  const auto message = [&](std::vector<shm::WeightEntry> changes, std::uint32_t epoch = 0) {
    return WeightHistory::of_state(*plan, epoch, changes).status().message();
  };
  EXPECT_EQ(message({{5, 0, 2, {1, 2}}, {5, 1, 2, {3, 2}}}), "");
  EXPECT_NE(message({{5, 0, 3, {1, 2}}}).find("3 weights for 2 sources"), std::string::npos);
  EXPECT_NE(message({{5, 0, 65, {1, 2}}}).find("65 sources"), std::string::npos);
  EXPECT_NE(message({{200, 0, 2, {1, 2}}}).find("row 200 of an epoch of 200"), std::string::npos);
  EXPECT_NE(message({{5, 1, 2, {1, 2}}, {7, 0, 2, {1, 2}}}).find("cannot be right"),
            std::string::npos);
  EXPECT_NE(message({{5, ~0U, 2, {1, 2}}}, 7).find("cannot be right"), std::string::npos);
}

}  // namespace
}  // namespace echoline::engine
