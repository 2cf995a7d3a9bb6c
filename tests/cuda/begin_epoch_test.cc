// begin_epoch() before an epoch's end: while the GPU is behind, and by several threads at once.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>
#include <vector>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;

class BeginEpoch : public FakeGpuTest {};

TEST_F(BeginEpoch, AStreamThatIsFarBehindIsNotAwaited) {
  const client::cuda::Stream behind = another_stream();
  ServerProcess server({"batch=4", "rows=4000"});
  GpuTrainer trainer(server, {.depth = 2});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  fake_->set_stuck(behind.get(), 1);
  GpuBatch batch;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(trainer.next(behind.get(), batch), ECHOLINE_OK);
  batch.release();
  // Both buffers get their next copies, which wait for the stream.
  EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
  batch.release();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(echoline_cuda_begin_epoch(trainer.handle()), ECHOLINE_OK) << echoline_last_error();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  fake_->set_stuck(behind.get(), 0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK) << echoline_last_error();
    EXPECT_EQ(batch.info().epoch, 1U);
    EXPECT_EQ(batch.info().step, step);
    batch.check_on_stream(fake_, 0);
  }
}

TEST_F(BeginEpoch, OfSeveralThreadsAtOnceIsOne) {
  ServerProcess server({"batch=4", "rows=400"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (std::uint32_t epoch = 0; epoch < 30; ++epoch) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    EXPECT_EQ(batch.info().epoch, epoch);
    EXPECT_EQ(batch.info().step, 0U);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(
          [&] { EXPECT_EQ(echoline_cuda_begin_epoch(trainer.handle()), ECHOLINE_OK); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace echoline::cuda_test
