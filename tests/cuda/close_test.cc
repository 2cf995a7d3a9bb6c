// What closing leaves behind: for the other jobs of the ring, for a trainer that keeps a batch, for
// a capture elsewhere.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class Closing : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && fake_ == nullptr) GTEST_SKIP() << "needs the stand-in of the driver";
  }
  client::cuda::Stream another_stream() {
    client::cuda::Stream made;
    EXPECT_TRUE(client::cuda::make_stream(device(), made).ok());
    return made;
  }
  template <typename Done>
  static bool comes_true(Done done) {
    for (int i = 0; i < 500 && !done(); ++i) usleep(20'000);
    return done();
  }
};

// Takes what is published, until nothing more comes.
int take_all(Loader& loader) {
  int taken = 0;
  for (;; ++taken) {
    Batch batch;
    if (loader.next_within(std::chrono::milliseconds(300), batch) != ECHOLINE_OK) return taken;
  }
}

TEST_F(Closing, SlotsThatCopiesStillReadAreNotGivenBack) {
  const client::cuda::Stream stuck = another_stream();
  ServerProcess server({"batch=4", "rows=4000", "slots=4", "consumers=2"});
  Loader other("train", {.job = "other", .runtime_dir = server.dir()});
  {
    GpuTrainer trainer(server, {.depth = 2});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    GpuBatch batch;
    ASSERT_EQ(trainer.next(stuck.get(), batch), ECHOLINE_OK);
    fake_->set_stuck(stuck.get(), 1);
    batch.release();
    EXPECT_GT(take_all(other), 0);
  }
  EXPECT_GT(fake_->count().operations, 0U) << "the copy that waits for the stream";
  EXPECT_EQ(take_all(other), 0);
  fake_->set_stuck(stuck.get(), 0);
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

TEST_F(Closing, TheLastBatchDisturbsNoCapture) {
  const client::cuda::Stream captured = another_stream();
  ServerProcess server({"batch=4", "rows=40"});
  GpuBatch batch;
  {
    GpuTrainer trainer(server, {});
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
    fake_->set_capture(captured.get(), 1);
  }
  batch.release();
  EXPECT_TRUE(comes_true([&] { return fake_->count().device_allocations == 0; }));
  fake_->set_capture(captured.get(), 0);
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

}  // namespace
}  // namespace echoline::cuda_test
