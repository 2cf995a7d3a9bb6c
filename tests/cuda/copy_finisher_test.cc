// The steps of the thread that gives slots of the ring back when copies have ended.
#include <gmock/gmock.h>

#include "cuda/fake_driver/codes.h"
#include "cuda/step_fixture.h"

namespace echoline::cuda_test {
namespace {

using client::cuda::DeviceBatch;
using testing::HasSubstr;

class CopyFinisherTest : public StepTest {};

TEST_F(CopyFinisherTest, AStepWithoutACopyDoesNothing) {
  open({"batch=4", "rows=40"}, {});
  EXPECT_FALSE(finisher().do_work());
}

TEST_F(CopyFinisherTest, ABatchIsKeptUntilItsCopyHasEnded) {
  open({"batch=4", "rows=40"}, {});
  hold_copies(true);
  copy_batches(1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(finisher().do_work());
  ASSERT_EQ(table().in_flight.size(), 1U);
  EXPECT_NE(table().in_flight.front().batch, nullptr);
  const client::cuda::DeviceSlot& slot = *table().in_flight.front().slot;
  EXPECT_TRUE(slot.copying);
  EXPECT_EQ(pipeline().meter.figures().batches, 0U);

  hold_copies(false);
  EXPECT_TRUE(finisher().wait_for_work());
  EXPECT_TRUE(finisher().do_work());
  EXPECT_TRUE(table().in_flight.empty());
  EXPECT_FALSE(slot.copying);
  EXPECT_TRUE(slot.queued) << "the trainer did not get it yet";
  EXPECT_EQ(pipeline().meter.figures().batches, 1U);
  EXPECT_GT(pipeline().meter.figures().bytes, 0U);
}

TEST_F(CopyFinisherTest, AStepEndsOneCopyTheOldest) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  hold_copies(true);
  copy_batches(3);
  const auto* const oldest = table().in_flight.front().slot;
  hold_copies(false);
  for (int left = 2; left >= 0; --left) {
    EXPECT_TRUE(finisher().wait_for_work());
    EXPECT_TRUE(finisher().do_work());
    EXPECT_EQ(table().in_flight.size(), static_cast<std::size_t>(left));
    EXPECT_FALSE(oldest->copying);
  }
  EXPECT_FALSE(finisher().do_work());
}

TEST_F(CopyFinisherTest, AnErrorWhileItWaitsEndsTheCopyAndTheLoader) {
  open({"batch=4", "rows=40"}, {});
  copy_batches(1);
  fake_->fail("cuEventSynchronize", kUnknown, 1, 0);
  EXPECT_TRUE(finisher().wait_for_work());
  EXPECT_TRUE(table().failure.ok()) << "only a step ends something";
  EXPECT_TRUE(finisher().do_work());
  EXPECT_TRUE(table().in_flight.empty());
  EXPECT_EQ(table().failure.code(), ECHOLINE_DATA_LOSS);
  EXPECT_THAT(table().failure.text(), HasSubstr("a copy to the GPU failed"));
}

TEST_F(CopyFinisherTest, AfterAnErrorItWaitsForTheStreamBeforeItGivesTheBatchBack) {
  open({"batch=4", "rows=40"}, {});
  fake_->set_delay(20'000, 20'000, 1);
  copy_batches(1);
  fake_->fail("cuEventQuery", kUnknown, 1, 0);
  EXPECT_TRUE(finisher().do_work());
  EXPECT_EQ(table().failure.code(), ECHOLINE_DATA_LOSS);
  EXPECT_EQ(fake_->count().operations, 0U);
}

TEST_F(CopyFinisherTest, ItEndsAfterTheCopierAndWhenNoCopyIsLeft) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  copy_batches(2);
  table().fail({ECHOLINE_CANCELLED, "closed"});
  EXPECT_FALSE(copier().do_work());
  EXPECT_FALSE(copier().wait_for_work());
  for (int copies = 0; copies < 2; ++copies) {
    EXPECT_TRUE(finisher().wait_for_work());
    EXPECT_TRUE(finisher().do_work());
  }
  EXPECT_TRUE(table().finisher_runs);
  EXPECT_FALSE(finisher().wait_for_work());
  EXPECT_FALSE(table().finisher_runs);
}

TEST_F(CopyFinisherTest, EpochsComeWholeByStepsOfOneThread) {
  open({"batch=4", "rows=40", "slots=2"}, {.depth = 2, .echo_factor = 2, .echo_window = 3});
  fake_->set_delay(0, 300, 2);
  int uses = 0, ends = 0;
  for (int tries = 0; ends < 3 && tries < 20'000; ++tries) {
    copier().do_work();
    finisher().do_work();
    std::unique_ptr<DeviceBatch> batch;
    const int status = take_now(batch);
    if (status == ECHOLINE_END_OF_EPOCH) ++ends;
    if (status != ECHOLINE_OK) continue;
    ++uses;
    trainer().release(*batch, stream());
  }
  EXPECT_EQ(ends, 3);
  EXPECT_EQ(uses, 3 * 2 * 10);
}

}  // namespace
}  // namespace echoline::cuda_test
