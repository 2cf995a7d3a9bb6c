// What becomes of records that cannot be decoded: counted, replaced by the same ones in every run,
// and at some point too many.
#include "engine/open/bad_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/pass/pass_account.h"
#include "engine/small_stream.h"
#include "plan/order_lists.h"

namespace echoline::engine {
namespace {

using testing::HasSubstr;

const Status kBroken(Code::kDataLoss, "not a JPEG");

class BadRecordsTest : public testing::Test {
 protected:
  BadRecords make(bool replace, double limit = 0.05) {
    return BadRecords(core_->data_set->index(), *core_->plan, {.replace = replace, .limit = limit});
  }
  std::shared_ptr<echo::Item> item(std::uint64_t record) {
    return std::make_shared<echo::Item>(std::make_shared<PassAccount>(core_->counters, 0), 0,
                                        record);
  }
  Status judge(BadRecords& bad, echo::Item& item, std::set<std::uint64_t>& in_epoch,
               const Status& verdict = kBroken) {
    const MutexLock lock(item.mutex);
    return bad.judge(item, verdict, in_epoch);
  }

  SmallStream small_;
  const std::shared_ptr<StreamCore> core_ = small_.open().core;
};

TEST_F(BadRecordsTest, PutsTheSameSubstituteInTheirPlaceInEveryRun) {
  BadRecords one = make(true), other = make(true);
  std::set<std::uint64_t> in_epoch;
  const auto first = item(3), second = item(3);
  ASSERT_TRUE(judge(one, *first, in_epoch).ok());
  ASSERT_TRUE(judge(other, *second, in_epoch = {}).ok());
  EXPECT_EQ(first->record, second->record);
  EXPECT_EQ(first->record, substitute_for(*core_->plan, 0, 3, 1));
  EXPECT_EQ(first->attempt, 1U);
  EXPECT_EQ(one.counts().at("corrupt"), 1U);
}

TEST_F(BadRecordsTest, SubstitutesDependOnSeedEpochRecordAndAttempt) {
  plan::PlanSpec spec;
  spec.seed = 7;
  spec.shard_records = {1'000'000};
  const auto plan = plan::Plan::create(spec).value();
  std::set<std::uint64_t> substitutes;
  for (std::uint32_t attempt = 1; attempt <= 8; ++attempt) {
    substitutes.insert(substitute_for(*plan, 0, 3, attempt));
  }
  for (std::uint32_t epoch = 1; epoch <= 8; ++epoch) {
    substitutes.insert(substitute_for(*plan, epoch, 3, 1));
  }
  spec.seed = 8;
  substitutes.insert(substitute_for(*plan::Plan::create(spec).value(), 0, 3, 1));
  EXPECT_EQ(substitutes.size(), 17U);
}

// Otherwise a list that leaves records out, to test with them, would let them in again.
TEST_F(BadRecordsTest, AreReplacedByRecordsOfTheEpochsList) {
  plan::OrderListsBuilder builder(1000, 4);
  for (const std::uint64_t first : {7, 500}) {
    ASSERT_TRUE(builder.add(first).ok() && builder.add(first + 1).ok() && builder.end_list().ok());
  }
  plan::PlanSpec spec;
  spec.shard_records = {1000};
  spec.order = builder.finish();
  const auto plan = plan::Plan::create(spec).value();
  for (std::uint32_t attempt = 1; attempt <= 20; ++attempt) {
    EXPECT_THAT(substitute_for(*plan, 0, 7, attempt), testing::AnyOf(7, 8));
    EXPECT_THAT(substitute_for(*plan, 1, 500, attempt), testing::AnyOf(500, 501));
  }
}

TEST_F(BadRecordsTest, MoreThanTheLimitOfAnEpochEndTheStream) {
  BadRecords bad = make(true, 0.05);  // 2 of 40
  std::set<std::uint64_t> in_epoch;
  EXPECT_TRUE(judge(bad, *item(1), in_epoch).ok());
  EXPECT_TRUE(judge(bad, *item(2), in_epoch).ok());
  const Status status = judge(bad, *item(3), in_epoch);
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("3 bad records in epoch 0"));
  std::set<std::uint64_t> in_next_epoch;
  EXPECT_TRUE(judge(bad, *item(3), in_next_epoch).ok());
}

TEST_F(BadRecordsTest, ARecordThatIsMetAgainInAnEpochCountsOnce) {
  BadRecords bad = make(true, 0.05);  // 2 of 40
  std::set<std::uint64_t> in_epoch;
  for (int i = 0; i < 5; ++i) {
    const auto one = item(3);
    EXPECT_TRUE(judge(bad, *one, in_epoch).ok());
    EXPECT_NE(one->record, 3U) << "it is replaced each time";
  }
  EXPECT_EQ(bad.counts().at("corrupt"), 1U);
}

TEST_F(BadRecordsTest, AreAnErrorUnderTheFailPolicy) {
  BadRecords bad = make(false);
  std::set<std::uint64_t> in_epoch;
  const auto one = item(3);
  EXPECT_THAT(judge(bad, *one, in_epoch).message(), HasSubstr("bad_records.policy: fail"));
  EXPECT_EQ(one->record, 3U);
}

TEST_F(BadRecordsTest, AChangedObjectIsNoBadRecord) {
  BadRecords bad = make(true);
  std::set<std::uint64_t> in_epoch;
  const Status changed(Code::kFailedPrecondition, "changed since it was indexed");
  EXPECT_EQ(judge(bad, *item(3), in_epoch, changed).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(in_epoch.empty());
  EXPECT_TRUE(bad.counts().empty());
}

TEST_F(BadRecordsTest, SubstitutesThatAreAllBadEndTheStream) {
  BadRecords bad = make(true, 1.0);
  std::set<std::uint64_t> in_epoch;
  const auto one = item(3);
  Status status;
  int attempts = 0;
  while (status.ok()) {
    status = judge(bad, *one, in_epoch);
    ++attempts;
  }
  EXPECT_EQ(attempts, 33);
  EXPECT_THAT(status.message(), HasSubstr("32 substitutes in a row were bad"));
}

}  // namespace
}  // namespace echoline::engine
