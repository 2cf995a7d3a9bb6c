// The steps of the thread that puts copies on the device.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "cuda/fake_driver/codes.h"
#include "cuda/step_fixture.h"

namespace echoline::cuda_test {
namespace {

using client::cuda::CopierPause;
using client::cuda::DeviceBatch;
using client::cuda::DeviceSlot;

class BatchCopierTest : public StepTest {
 protected:
  int free_slots() {
    return static_cast<int>(std::ranges::count_if(table().slots, &DeviceSlot::free));
  }
};

TEST_F(BatchCopierTest, AStepPutsOneBatchOnTheDevice) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  hold_copies(true);
  copy_batches(1);
  ASSERT_EQ(table().in_flight.size(), 1U);
  const DeviceSlot& slot = *table().in_flight.front().slot;
  EXPECT_TRUE(slot.copying && slot.queued && !slot.loading);
  EXPECT_EQ(free_slots(), 2);
  std::unique_ptr<DeviceBatch> batch;
  EXPECT_EQ(take_now(batch), ECHOLINE_OK) << "the host does not wait for the copy";
  EXPECT_EQ(batch->slot, &slot);
  trainer().release(*batch, stream());
}

TEST_F(BatchCopierTest, AStepWithoutAFreeSlotDoesNothingAndDoesNotWait) {
  open({"batch=4", "rows=40"}, {.depth = 2});
  copy_batches(2);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(copier().do_work());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 100 * copier().kRingWait / 2);
  EXPECT_EQ(free_slots(), 0);
}

TEST_F(BatchCopierTest, AStepWithoutABatchFreesItsSlotAgain) {
  open({"batch=4", "rows=40", "batches_max=1"}, {.depth = 2});
  copy_batches(1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(copier().do_work());
  EXPECT_EQ(free_slots(), 1);
  EXPECT_TRUE(table().failure.ok());
}

TEST_F(BatchCopierTest, TheEndOfAnEpochIsAStepOfItsOwn) {
  open({"batch=4", "rows=8"}, {.depth = 4});
  copy_batches(3);  // two batches and the end
  EXPECT_EQ(table().in_flight.size(), 2U);
  EXPECT_EQ(free_slots(), 2);
  std::unique_ptr<DeviceBatch> first, second, third;
  EXPECT_EQ(take_now(first), ECHOLINE_OK);
  EXPECT_EQ(take_now(second), ECHOLINE_OK);
  EXPECT_TRUE(second->last_of_epoch);
  EXPECT_EQ(take_now(third), ECHOLINE_END_OF_EPOCH);
  EXPECT_EQ(take_now(third), ECHOLINE_TIMEOUT) << "nothing of the next epoch was copied";
  trainer().release(*first, stream());
  trainer().release(*second, stream());
}

TEST_F(BatchCopierTest, APauseHoldsItBetweenTwoBatches) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  copy_batches(1);
  {
    const CopierPause outer(table());
    {
      const CopierPause inner(table());
      EXPECT_FALSE(table().copier_paused) << "it has taken no step yet";
      EXPECT_TRUE(copier().wait_for_work()) << "it must not sleep before that step";
      EXPECT_FALSE(copier().do_work());
      EXPECT_TRUE(table().copier_paused);
    }
    EXPECT_FALSE(copier().do_work()) << "one of two pauses has ended";
    EXPECT_EQ(table().in_flight.size(), 1U);
    EXPECT_EQ(free_slots(), 2);
  }
  EXPECT_TRUE(copier().wait_for_work());
  copy_batches(1);
  EXPECT_FALSE(table().copier_paused);
}

TEST_F(BatchCopierTest, SlotsOfTheRingThatCopiesHoldAreWaitedFor) {
  open({"batch=4", "rows=40", "slots=2"}, {.depth = 6});
  hold_copies(true);
  copy_batches(2);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(copier().do_work());
  EXPECT_TRUE(table().failure.ok()) << table().failure.text();
  EXPECT_EQ(free_slots(), 4);
  hold_copies(false);
  ASSERT_TRUE(finisher().wait_for_work());
  EXPECT_TRUE(finisher().do_work());
  copy_batches(1);
}

TEST_F(BatchCopierTest, AnErrorOfTheDriverEndsTheLoaderAndTheAgent) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  fake_->fail("cuMemcpyHtoDAsync_v2", kUnknown, 1, 0);
  copy_batches(1);
  EXPECT_TRUE(table().in_flight.empty());
  EXPECT_EQ(table().failure.code(), ECHOLINE_DATA_LOSS);
  EXPECT_FALSE(copier().do_work());
  EXPECT_FALSE(copier().wait_for_work());
  EXPECT_FALSE(table().copier_runs);
}

TEST_F(BatchCopierTest, CopiesOfARingThatIsLeftGoThroughPinnedMemory) {
  open({"batch=4", "rows=40"}, {.depth = 3});
  copy_batches(1);
  EXPECT_TRUE(table().in_flight.back().direct);
  ASSERT_TRUE(finisher().wait_for_work());
  EXPECT_TRUE(finisher().do_work());
  EXPECT_TRUE(pipeline().pages.leave(host().attachment()));
  copy_batches(1);
  EXPECT_FALSE(table().in_flight.back().direct);
}

}  // namespace
}  // namespace echoline::cuda_test
