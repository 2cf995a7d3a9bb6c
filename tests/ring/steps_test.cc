#include <gtest/gtest.h>

#include "steps_model.h"

namespace echoline::ring {
namespace {

class Steps : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Steps, EveryOrderDeliversEachBatchOnceLosesNoWakeUpAndOverwritesNothing) {
  Model model;
  model.capacity = GetParam().first;
  model.reader_count = GetParam().second;
  model.batches = model.capacity + (model.capacity == 4 ? 1 : 2);
  const SearchResult result = search(model);
  EXPECT_EQ(result.wrong, "");
  EXPECT_GT(result.states, 100U);
  RecordProperty("states", static_cast<int>(result.states));
}

INSTANTIATE_TEST_SUITE_P(Capacities, Steps,
                         testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(4, 1),
                                         std::pair(1, 2), std::pair(2, 2), std::pair(4, 2)));

std::string found_with(Fault fault, int readers = 1) {
  Model model;
  model.capacity = 1;
  model.reader_count = readers;
  model.fault = fault;
  return search(model).wrong;
}

TEST(StepsModel, FindsTheWakeUpThatAReleaseInTheWrongOrderLoses) {
  EXPECT_EQ(found_with(Fault::kReaderBellAfterWake), "everybody sleeps: a wake-up was lost");
}

TEST(StepsModel, FindsTheWakeUpThatALateBellOfTheWriterLoses) {
  EXPECT_EQ(found_with(Fault::kWriterBellAfterLook), "everybody sleeps: a wake-up was lost");
}

TEST(StepsModel, FindsTheWakeUpThatAWriterWithoutAFlagLoses) {
  EXPECT_EQ(found_with(Fault::kWriterNoFlag), "everybody sleeps: a wake-up was lost");
}

TEST(StepsModel, FindsTheWakeUpThatAReaderWithoutALastLookLoses) {
  EXPECT_EQ(found_with(Fault::kReaderNoLastLook), "everybody sleeps: a wake-up was lost");
}

TEST(StepsModel, FindsTheWakeUpThatABellBeforeThePublishLoses) {
  EXPECT_EQ(found_with(Fault::kBellBeforePublished), "everybody sleeps: a wake-up was lost");
}

TEST(StepsModel, FindsTheSlotThatAForgottenReaderStillReads) {
  EXPECT_EQ(found_with(Fault::kWriterNoReaderCheck, 2),
            "a slot was written over before every reader had released it");
}

TEST(StepsModel, FindsTheBatchThatIsPublishedBeforeItIsWritten) {
  EXPECT_EQ(found_with(Fault::kPublishedBeforeSlot),
            "a reader found another batch than the one that is due");
}

}  // namespace
}  // namespace echoline::ring
