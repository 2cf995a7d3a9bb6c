// Errors of the driver, lost devices and daemons, ends in mid-work: a clear status, never a hang,
// and nothing is left behind.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "cuda/fake_driver/codes.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class Trouble : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && fake_ == nullptr) GTEST_SKIP() << "needs the stand-in of the driver";
  }
};

// Takes batches until an error, or `steps` of them.
int drive(GpuTrainer& trainer, client::cuda::StreamHandle stream, int steps) {
  GpuBatch batch;
  for (int step = 0; step < steps; ++step) {
    const int status = trainer.next(stream, batch);
    if (status != ECHOLINE_OK && status != ECHOLINE_END_OF_EPOCH) return status;
  }
  return ECHOLINE_OK;
}

// But those that undo: what they refuse to free stays.
std::vector<std::string> functions_that_do() {
  std::vector<std::string> names;
#define ECHOLINE_NAME(member, symbol, parameters) names.push_back(#symbol);
  ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_NAME)
#undef ECHOLINE_NAME
  std::erase_if(names, [](const std::string& name) {
    for (const char* undoing : {"Free", "Destroy", "Unregister", "Unload", "Release", "Pop"}) {
      if (name.find(undoing) != std::string::npos) return true;
    }
    return false;
  });
  return names;
}

TEST_F(Trouble, AnyCallThatFailsEndsInAStatusAndLeavesNothing) {
  int seen = 0;
  for (const std::string& function : functions_that_do()) {
    for (const int nth : {1, 2, 9, 40}) {
      ServerProcess server({"batch=4", "rows=40", "slots=3", "sealed=0"});
      fake_->fail(function.c_str(), kUnknown, nth, 0);
      GpuTrainer trainer(server, {.factor = 2, .window = 2});
      int status = trainer.status();
      std::string text = trainer.error();
      if (status == ECHOLINE_OK) {
        status = drive(trainer, stream(), 30);
        text = echoline_last_error();
      }
      if (status != ECHOLINE_OK) {
        ++seen;
        EXPECT_EQ(status, ECHOLINE_DATA_LOSS) << function;
        EXPECT_THAT(text, HasSubstr("CUDA_ERROR_UNKNOWN")) << function;
      }
      EXPECT_EQ(fake_->misuses(), std::vector<std::string>{}) << function << " " << nth;
      fake_->heal();
    }
  }
  EXPECT_GT(seen, 30);
}

TEST_F(Trouble, ADeviceThatIsLostAtAnyMomentIsAnError) {
  for (const int nth : {1, 5, 17, 60}) {
    ServerProcess server({"batch=4", "rows=40", "slots=3"});
    fake_->set_delay(0, 500, 3);
    fake_->fail("async", kIllegalAddress, nth, 1);
    {
      GpuTrainer trainer(server, {});
      ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
      EXPECT_EQ(drive(trainer, stream(), 100), ECHOLINE_DATA_LOSS);
      EXPECT_THAT(echoline_last_error(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
      EXPECT_EQ(drive(trainer, stream(), 1), ECHOLINE_DATA_LOSS) << "for good";
    }
    TearDown();
    SetUp();
  }
}

TEST_F(Trouble, ADeviceWithoutMemoryIsAnErrorThatSaysWhatToLower) {
  fake_->set_memory(3000);
  ServerProcess server({"batch=4", "rows=40"});
  const GpuTrainer trainer(server, {.depth = 16});
  EXPECT_EQ(trainer.status(), ECHOLINE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(trainer.error(), HasSubstr("lower the depth"));
}

TEST_F(Trouble, ADeviceThatIsNotThereIsNamed) {
  ServerProcess server({"batch=4", "rows=40"});
  const GpuTrainer trainer(server, {.device = 7});
  EXPECT_EQ(trainer.status(), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(trainer.error(), HasSubstr("no CUDA device 7; the driver shows 1"));
}

TEST_F(Trouble, WishesThatCannotBeAreRefusedByName) {
  ServerProcess server({"batch=4", "rows=40", "ragged=1"});
  const auto refusal = [&](CudaWish wish) {
    const GpuTrainer trainer(server, wish);
    EXPECT_EQ(trainer.status(), ECHOLINE_INVALID_ARGUMENT);
    return trainer.error();
  };
  EXPECT_THAT(refusal({.depth = 1}), HasSubstr("depth must be 2 to 64"));
  EXPECT_THAT(refusal({.factor = 2000}), HasSubstr("factor"));
  EXPECT_THAT(refusal({.fields = {cuda_field("picture")}}), HasSubstr("'picture': the stream has"));
  EXPECT_THAT(refusal({.fields = {cuda_field("label"), cuda_field("label")}}), HasSubstr("twice"));
  echoline_cuda_field field = cuda_field("label");
  field.dtype = ECHOLINE_FLOAT32;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("[height, width, channels]"));
  field = cuda_field("image");
  field.dtype = ECHOLINE_INT64;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("dtype must be"));
  field = cuda_field("image");
  field.padded = 1;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("only a ragged field"));
  field = cuda_field("tokens");
  field.padded = 1;
  field.fill = 3e9;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("is no int32"));
  field.fill = 0.5;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("is no int32"));
  field = cuda_field("image");
  field.layout = ECHOLINE_LAYOUT_CHW;
  EXPECT_THAT(refusal({.fields = {field}}), HasSubstr("channels come first only"));
}

TEST_F(Trouble, AStreamThatIsBeingCapturedIsRefusedAndTheNextCallIsFine) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  fake_->set_capture(stream(), 1);
  GpuBatch batch;
  EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(echoline_last_error(), HasSubstr("CUDA graph"));
  fake_->set_capture(stream(), 0);
  EXPECT_EQ(drive(trainer, stream(), 20), ECHOLINE_OK);
}

TEST_F(Trouble, ACaptureElsewhereIsNotDisturbedByTheLoadersThreads) {
  client::cuda::Stream captured;
  ASSERT_TRUE(client::cuda::make_stream(device(), captured).ok());
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  fake_->set_capture(captured.get(), 1);
  EXPECT_EQ(drive(trainer, stream(), 30), ECHOLINE_OK);
  fake_->set_capture(captured.get(), 0);
}

TEST_F(Trouble, AStreamThatNeverGetsOnHangsNeitherTheNextBatchNorTheEnd) {
  client::cuda::Stream stuck;
  ASSERT_TRUE(client::cuda::make_stream(device(), stuck).ok());
  ServerProcess server({"batch=4", "rows=40"});
  fake_->set_stuck(stuck.get(), 1);
  const auto begin = std::chrono::steady_clock::now();
  {
    GpuTrainer trainer(server, {.depth = 2});
    ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    for (int i = 0; i < 6; ++i) {
      echoline_cuda_batch* batch = nullptr;
      const int status = echoline_cuda_next(trainer.handle(), stuck.get(), 200, &batch);
      EXPECT_TRUE(status == ECHOLINE_OK || status == ECHOLINE_TIMEOUT) << status;
      echoline_cuda_release(batch, stuck.get());
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  fake_->set_stuck(stuck.get(), 0);
  // What was left to the driver ends on its own now.
  for (int i = 0; i < 500 && fake_->count().registrations > 0; ++i) usleep(20'000);
}

TEST_F(Trouble, ADaemonThatIsKilledAndComesBackIsFollowedExactly) {
  ServerProcess server({"batch=4", "rows=400", "slots=4"});
  fake_->set_delay(100, 1500, 4);
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (std::uint64_t step = 0; step < 100; ++step) {
    if (step == 30 || step == 60) {
      server.kill();
      server.start_again();
    }
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK) << echoline_last_error();
    EXPECT_EQ(batch.info().row, step * 4);
    batch.check_on_stream(fake_, 10);
  }
}

TEST_F(Trouble, FiguresCanBeAskedForWhileTheDaemonComesBack) {
  ServerProcess server({"batch=4", "rows=4000", "slots=4"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  std::atomic<bool> done = false;
  std::thread asking([&] {
    while (!done) EXPECT_GE(trainer.stats().device_bytes, 1U);
  });
  GpuBatch batch;
  for (std::uint64_t step = 0; step < 300; ++step) {
    if (step % 20 == 10) {
      server.kill();
      server.start_again();
    }
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK) << echoline_last_error();
  }
  done = true;
  asking.join();
}

TEST_F(Trouble, TheLongestTimeIsNoTimeoutAtOnce) {
  ServerProcess server({"batch=4", "rows=400", "interval_us=3000"});
  GpuTrainer trainer(server, {});
  for (int step = 0; step < 40; ++step) {
    echoline_cuda_batch* batch = nullptr;
    ASSERT_EQ(echoline_cuda_next(trainer.handle(), stream(), INT64_MAX, &batch), ECHOLINE_OK);
    echoline_cuda_release(batch, stream());
  }
}

TEST_F(Trouble, BuffersThatAnotherThreadKeepsAreAwaitedForTenSeconds) {
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

TEST_F(Trouble, TheLastBatchOfAStuckStreamIsLetGoOfAtOnce) {
  client::cuda::Stream stuck;
  ASSERT_TRUE(client::cuda::make_stream(device(), stuck).ok());
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
  for (int i = 0; i < 500 && fake_->count().registrations > 0; ++i) usleep(20'000);
}

TEST_F(Trouble, TheDefaultStreamOfEachThreadIsRefused) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  GpuBatch batch;
  EXPECT_EQ(trainer.next(client::cuda::kStreamPerThread, batch), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(echoline_last_error(), HasSubstr("name a stream of your own"));
}

TEST_F(Trouble, AStreamThatFailsGivesWhatItHadAndThenItsReason) {
  ServerProcess server({"batch=4", "rows=40", "fail_at=7"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int step = 0; step < 7; ++step) ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
  EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_DATA_LOSS);
  EXPECT_THAT(echoline_last_error(), HasSubstr("changed since it was indexed"));
}

TEST_F(Trouble, ABatchOutlivesItsLoader) {
  ServerProcess server({"batch=4", "rows=40"});
  GpuBatch batch;
  {
    GpuTrainer trainer(server, {});
    ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
  }
  EXPECT_EQ(batch.rows(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(Trouble, ALoaderThatIsClosedFirstEndsTheDevicesWait) {
  ServerProcess server({"batch=4", "rows=40", "batches_max=3"});
  GpuTrainer trainer(server, {});
  std::thread closer([&] {
    usleep(100'000);
    trainer.close_loader();
  });
  EXPECT_EQ(drive(trainer, stream(), 10), ECHOLINE_CANCELLED);
  closer.join();
}

TEST_F(Trouble, AForkedChildFindsItsHandlesDead) {
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
  EXPECT_EQ(drive(trainer, stream(), 20), ECHOLINE_OK);
}

TEST_F(Trouble, TheWayToTheDeviceFollowsWhatDeviceAndRingAllow) {
  const auto path_of = [&](const char* sealed) {
    ServerProcess server({"batch=4", "rows=40", sealed});
    GpuTrainer trainer(server, {});
    EXPECT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
    GpuBatch batch;
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
      batch.check_on_stream(fake_, 0);
    }
    return trainer.stats().path;
  };
  fake_->set_read_only_register(1);
  EXPECT_EQ(path_of("sealed=1"), ECHOLINE_PATH_READ_ONLY);
  EXPECT_EQ(path_of("sealed=0"), ECHOLINE_PATH_READ_ONLY);
  fake_->set_read_only_register(0);
  EXPECT_EQ(path_of("sealed=1"), ECHOLINE_PATH_STAGED);
  EXPECT_EQ(path_of("sealed=0"), ECHOLINE_PATH_WRITABLE);
}

TEST_F(Trouble, AnErrorOfTheCallersStreamIsTheCallersAndTheNextCallIsFine) {
  constexpr Code kImplicit = 906;
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  GpuBatch batch;
  for (const Code code : {Code{kInvalidHandle}, kImplicit}) {
    fake_->fail("cuStreamIsCapturing", code, 1, 0);
    EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_INVALID_ARGUMENT) << code;
  }
  EXPECT_EQ(drive(trainer, stream(), 20), ECHOLINE_OK);
}

TEST_F(Trouble, AStreamOfAnotherDeviceIsRefusedAndTheNextCallIsFine) {
  fake_->set_devices(2);
  std::shared_ptr<const client::cuda::Device> other;
  ASSERT_TRUE(client::cuda::Device::open(1, other).ok());
  client::cuda::Stream elsewhere;
  ASSERT_TRUE(client::cuda::make_stream(other, elsewhere).ok());
  ServerProcess server({"batch=4", "rows=40"});
  GpuTrainer trainer(server, {});
  GpuBatch batch;
  EXPECT_EQ(trainer.next(elsewhere.get(), batch), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(echoline_last_error(), HasSubstr("another device"));
  EXPECT_EQ(drive(trainer, stream(), 20), ECHOLINE_OK);
}

}  // namespace
}  // namespace echoline::cuda_test
