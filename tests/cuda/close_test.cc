// The end of a loader, also with a stream that hangs, a batch that is kept, or in a forked child.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

// Takes what is published, until nothing more comes.
int take_all(Loader& loader) {
  int taken = 0;
  for (;; ++taken) {
    Batch batch;
    if (loader.next_within(std::chrono::milliseconds(300), batch) != ECHOLINE_OK) return taken;
  }
}

class Closing : public FakeGpuTest {};

TEST_F(Closing, AStreamThatHangsDelaysTheEndButGivesNoSlotBack) {
  const client::cuda::Stream stuck = another_stream();
  ServerProcess server({"batch=4", "rows=4000", "slots=4", "consumers=2"});
  Loader other("train", {.job = "other", .runtime_dir = server.dir()});
  const auto begin = std::chrono::steady_clock::now();
  {
    GpuTrainer trainer(server, {.depth = 2});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    fake_->set_stuck(stuck.get(), 1);
    for (int i = 0; i < 6; ++i) {
      echoline_cuda_batch* batch = nullptr;
      const int status = echoline_cuda_next(trainer.handle(), stuck.get(), 200, &batch);
      EXPECT_TRUE(status == ECHOLINE_OK || status == ECHOLINE_TIMEOUT) << status;
      echoline_cuda_release(batch, stuck.get());
    }
    EXPECT_GT(take_all(other), 0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  EXPECT_GT(fake_->count().operations, 0U) << "the copy that waits for the stream";
  EXPECT_EQ(take_all(other), 0);
  fake_->set_stuck(stuck.get(), 0);
  // The loader's thread ends the copy now and frees everything.
  EXPECT_TRUE(comes_true([&] { return fake_->count().registrations == 0; }));
}

TEST_F(Closing, TheLastBatchOfAStuckStreamIsReleasedAtOnce) {
  const client::cuda::Stream stuck = another_stream();
  ServerProcess server({"batch=4", "rows=40"});
  GpuBatch batch;
  {
    GpuTrainer trainer(server, {});
    ASSERT_EQ(trainer.next(stuck.get(), batch), ECHOLINE_OK);
  }
  fake_->set_stuck(stuck.get(), 1);
  batch.check_on_stream(fake_, 1);
  const auto begin = std::chrono::steady_clock::now();
  batch.release();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  fake_->set_stuck(stuck.get(), 0);
  EXPECT_TRUE(comes_true([&] { return fake_->count().device_allocations == 0; }));
}

TEST_F(Closing, ABatchThatIsKeptKeepsNothingOfTheRing) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuBatch batch;
  {
    GpuTrainer trainer(server, {});
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    EXPECT_GT(fake_->count().registrations, 0U);
  }
  EXPECT_EQ(fake_->count().registrations, 0U);
  EXPECT_EQ(batch.rows(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(Closing, ALoaderHasOneDeviceAtATime) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  echoline_cuda_options options;
  echoline_cuda_options_init(&options, sizeof(options));
  echoline_cuda* second = nullptr;
  EXPECT_EQ(echoline_cuda_open(trainer.loader().handle(), &options, &second),
            ECHOLINE_FAILED_PRECONDITION);
  EXPECT_THAT(echoline_last_error(), HasSubstr("open on this loader already"));
  EXPECT_EQ(second, nullptr);
  GpuBatch batch;
  for (std::uint64_t step = 0; step < 10; ++step) {
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    EXPECT_EQ(batch.info().step, step);
  }
}

TEST_F(Closing, AForkedChildFindsItsHandlesDead) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
  const pid_t child = fork();
  if (child == 0) {
    echoline_cuda_batch* other = nullptr;
    const bool dead = echoline_cuda_next(trainer.handle(), nullptr, 0, &other) == ECHOLINE_FORKED;
    _exit(dead ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(trainer.take(stream(), 20), ECHOLINE_OK);
}

}  // namespace
}  // namespace echoline::cuda_test
