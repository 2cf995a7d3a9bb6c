// How long a trainer waits for its next batch.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class Waiting : public FakeGpuTest {};

TEST_F(Waiting, TheLongestTimeoutDoesNotOverflow) {
  ServerProcess server({"batch=4", "rows=400", "interval_us=3000"});
  GpuTrainer trainer(server, {});
  for (int step = 0; step < 40; ++step) {
    echoline_cuda_batch* batch = nullptr;
    ASSERT_EQ(echoline_cuda_next(trainer.handle(), stream(), INT64_MAX, &batch), ECHOLINE_OK);
    echoline_cuda_release(batch, stream());
  }
}

TEST_F(Waiting, ATimeoutEndsTheWaitAndTheNextBatchIsNotLost) {
  ServerProcess server({"batch=4", "rows=40", "interval_us=400000"});
  GpuTrainer trainer(server, {});
  std::uint64_t steps = 0, timeouts = 0;
  while (steps < 4) {
    echoline_cuda_batch* batch = nullptr;
    const auto begin = std::chrono::steady_clock::now();
    const int status = echoline_cuda_next(trainer.handle(), stream(), 50, &batch);
    if (status == ECHOLINE_TIMEOUT) {
      ++timeouts;
      EXPECT_EQ(batch, nullptr);
      EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
      continue;
    }
    ASSERT_EQ(status, ECHOLINE_OK) << echoline_last_error();
    echoline_batch_info info{};
    info.size = sizeof info;
    ASSERT_EQ(echoline_cuda_batch_get_info(batch, &info), ECHOLINE_OK);
    EXPECT_EQ(info.step, steps++);
    echoline_cuda_release(batch, stream());
  }
  EXPECT_GT(timeouts, 0U);
}

TEST_F(Waiting, ATrainerThatHoldsAllBuffersGetsAnErrorAtOnce) {
  ServerProcess server({"batch=4", "rows=40", "slots=4"});
  GpuTrainer trainer(server, {.depth = 2});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch first, second, third;
  ASSERT_EQ(trainer.next(stream(), first), ECHOLINE_OK);
  ASSERT_EQ(trainer.next(stream(), second), ECHOLINE_OK);
  ASSERT_EQ(trainer.next(stream(), third), ECHOLINE_LEASE_HELD);
  EXPECT_THAT(echoline_last_error(), HasSubstr("raise the depth"));
  first.release();
  EXPECT_EQ(trainer.next(stream(), third), ECHOLINE_OK);
}

TEST_F(Waiting, BuffersThatAnotherThreadHoldsAreWaitedForTenSeconds) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {.depth = 2});
  GpuBatch first, second, third;
  std::thread other([&] {
    ASSERT_EQ(trainer.next(stream(), first), ECHOLINE_OK);
    ASSERT_EQ(trainer.next(stream(), second), ECHOLINE_OK);
  });
  other.join();
  EXPECT_EQ(trainer.next(stream(), third), ECHOLINE_LEASE_HELD);
}

}  // namespace
}  // namespace echoline::cuda_test
