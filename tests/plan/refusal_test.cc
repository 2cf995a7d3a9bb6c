// A spec that can't be fulfilled gives an error that names the key to change.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "plan/buckets.h"
#include "plan/factor_list.h"
#include "plan/spec_check.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

PlanSpec good() {
  PlanSpec spec;
  spec.batch_rows = 8;
  spec.lanes = 2;
  spec.echo_point = EchoPoint::kSample;
  spec.factor = 2500;
  spec.echo_window = 200;
  spec.shard_records = {500, 500};
  return spec;
}

void expect_refused(const std::function<void(PlanSpec&)>& spoil, const std::string& message) {
  PlanSpec spec = good();
  spoil(spec);
  const auto plan = Plan::create(spec);
  ASSERT_FALSE(plan.ok()) << message;
  EXPECT_EQ(plan.status().code(), Code::kInvalidArgument);
  EXPECT_NE(plan.status().message().find(message), std::string::npos) << plan.status().message();
}

TEST(Refusal, NamesTheKeyOfTheConfiguration) {
  ASSERT_TRUE(Plan::create(good()).ok());
  expect_refused([](PlanSpec& s) { s.shard_records.clear(); }, "read.url: there are no records");
  expect_refused([](PlanSpec& s) { s.shard_records = {0, 0}; }, "read.url: there are no records");
  expect_refused([](PlanSpec& s) { s.shard_records = {kRecordsMax, 1}; }, "read.url: more than");
  expect_refused([](PlanSpec& s) { s.shard_records = {~std::uint64_t{0}, 2}; }, "read.url: more");
  expect_refused([](PlanSpec& s) { s.batch_rows = 0; }, "batch.size:");
  expect_refused([](PlanSpec& s) { s.lanes = 0; }, "lanes: 0 is not within 1");
  expect_refused([](PlanSpec& s) { s.lanes = 3; }, "lanes: 3 does not divide batch.size 8");
  expect_refused([](PlanSpec& s) { s.shard_records = {1}; }, "lanes: 2 lanes for 1 records");
  expect_refused([](PlanSpec& s) { s.factor = 999; }, "echo.factor: 0.999 is not within 1");
  expect_refused([](PlanSpec& s) { s.factor = 1000001; }, "echo.factor: 1000.001 is not");
  expect_refused([](PlanSpec& s) { s.factor_max = 2000; },
                 "echo.max: 2 is not within echo.factor, 2.5");
  expect_refused([](PlanSpec& s) { s.factor_max = 2000000; }, "echo.max: 2000 is not");
  expect_refused([](PlanSpec& s) { s.echo_window = 0; }, "echo.window: must be at least 1");
  expect_refused([](PlanSpec& s) { s.echo_window = 20; }, "echo.window: with 20 a batch could");
  expect_refused([](PlanSpec& s) { s.allow_repeats = true, s.echo_window = 1; },
                 "echo.window: 1 is less than one for each of 2 lanes");
  expect_refused([](PlanSpec& s) { s.echo_point = EchoPoint::kNone; }, "without an echo step");
  expect_refused([](PlanSpec& s) { s.echo_point = EchoPoint::kBatch, s.batch_rows = 1002; },
                 "batch.last: drop leaves no batch");
  expect_refused([](PlanSpec& s) { s.batch_rows = 2600, s.allow_repeats = true; },
                 "batch.last: drop leaves no batch of an epoch of 2500 rows");
}

TEST(Refusal, OfBucketsNamesWhatDoesNotGoWithThem) {
  const auto with_buckets = [](PlanSpec& s) {
    s.echo_point = EchoPoint::kNone;
    s.factor = 1000;
    s.buckets = std::make_shared<const Buckets>(std::vector<BucketShape>{{10, 8}, {20, 6}}, 1000,
                                                [](std::uint64_t record) { return record % 20; });
  };
  expect_refused([&](PlanSpec& s) { with_buckets(s), s.shuffle_window = 20; },
                 "shuffle.window: with batch.buckets only");
  expect_refused([&](PlanSpec& s) { with_buckets(s), s.echo_point = EchoPoint::kSample; },
                 "echo.window: with batch.buckets the uses of a record can't be spread");
  expect_refused(
      [&](PlanSpec& s) {
        with_buckets(s);
        s.echo_point = EchoPoint::kSample;
        s.within_step = true;
        s.factor = s.factor_max = 4000;
      },
      "divide the 6 rows of a batch of the bucket up to 20");
  expect_refused(
      [](PlanSpec& s) {
        s.echo_point = EchoPoint::kNone;
        s.factor = 1000;
        s.shard_records = {7};
        s.lanes = 1;
        s.buckets = std::make_shared<const Buckets>(std::vector<BucketShape>{{10, 8}}, 7,
                                                    [](std::uint64_t) { return 1; });
      },
      "batch.last: drop leaves no batch of an epoch of 7 records");
}

TEST(Refusal, OfUsesWithinAStepNamesTheFactorThatDoesNotFitTheBatch) {
  const auto within = [](std::uint32_t factor) {
    return [factor](PlanSpec& s) { s.within_step = true, s.echo_window = 0, s.factor = factor; };
  };
  expect_refused(within(2500),
                 "echo.factor: 2.5 with echo.spread: step: it must be whole, and "
                 "divide the 4 rows of a batch per lane");
  expect_refused(within(3000), "echo.factor: 3 with echo.spread: step");
  expect_refused([&](PlanSpec& s) { within(2000)(s), s.factor_max = 3000; }, "echo.max: with echo");
  expect_refused([&](PlanSpec& s) { within(2000)(s), s.echo_point = EchoPoint::kBatch; },
                 "is for records and samples");
  PlanSpec spec = good();
  within(2000)(spec);
  const auto plan = Plan::create(spec).value();
  EXPECT_EQ(plan->check_changes(std::vector<FactorChange>{{0, 2000}}).message(),
            "factor list: with echo.spread: step the factor cannot change");
  EXPECT_TRUE(plan->check_changes({}).ok());
}

TEST(Refusal, OfAWindowIsWaivedByAllowRepeatsAndUnderBatchEcho) {
  PlanSpec spec = good();
  spec.echo_window = 2;
  EXPECT_FALSE(Plan::create(spec).ok());
  spec.allow_repeats = true;
  EXPECT_TRUE(Plan::create(spec).ok());
  spec.allow_repeats = false;
  spec.echo_point = EchoPoint::kBatch;
  EXPECT_TRUE(Plan::create(spec).ok());
}

TEST(Refusal, OfAFactorListNamesTheEntry) {
  const ChangeLimits limits{.blocks = 20,
                            .factor_max = 3000};  // changes can begin at blocks 0 to 15
  const auto message = [&](std::vector<FactorChange> changes) {
    return check_changes(changes, limits).message();
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({{0, 1000}, {5, 3000}, {15, 2500}}), "");
  EXPECT_NE(message({{0, 1000}, {16, 2500}}).find("entry 1: block 16 is too late"),
            std::string::npos);
  EXPECT_NE(message({{5, 2000}, {5, 3000}}).find("entry 1: block 5 does not come after"),
            std::string::npos);
  EXPECT_NE(message({{5, 2000}, {4, 3000}}).find("entry 1: block 4 does not"), std::string::npos);
  EXPECT_NE(message({{5, 3001}}).find("entry 0: the factor of 3001"), std::string::npos);
  EXPECT_NE(message({{5, 999}}).find("entry 0: the factor of 999"), std::string::npos);
  EXPECT_NE(message({{~std::uint64_t{0}, 2000}}).find("too late"), std::string::npos);
  std::vector<FactorChange> many;
  for (std::uint64_t block = 0; block <= kChangesMax; ++block) many.push_back({block, 1000});
  EXPECT_NE(check_changes(many, {.blocks = 1000}).message().find("at most 64"), std::string::npos);
  many.pop_back();
  EXPECT_TRUE(check_changes(many, {.blocks = 1000}).ok());
}

TEST(Refusal, OfAFactorListInAnEpochOfFewBlocksLeavesOnlyItsBeginning) {
  EXPECT_TRUE(
      check_changes(std::vector<FactorChange>{{0, 2000}}, {.blocks = 1, .factor_max = 2000}).ok());
  EXPECT_FALSE(
      check_changes(std::vector<FactorChange>{{1, 2000}}, {.blocks = 3, .factor_max = 2000}).ok());
}

TEST(Refusal, OfAnyFactorListWithoutAnEchoStep) {
  PlanSpec spec = good();
  spec.echo_point = EchoPoint::kNone;
  spec.factor = 1000;
  const auto plan = Plan::create(spec).value();
  EXPECT_TRUE(plan->check_changes({}).ok());
  const std::vector<FactorChange> changes{{0, 1000}};
  EXPECT_NE(plan->check_changes(changes).message().find("no echo step"), std::string::npos);
}

}  // namespace
}  // namespace echoline::plan
