// A daemon that goes away, comes back, or reports an error, and a host loader that is closed.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

class DaemonLoss : public FakeGpuTest {};

TEST_F(DaemonLoss, ADaemonThatIsKilledAndComesBackIsFollowedExactly) {
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

TEST_F(DaemonLoss, FiguresCanBeAskedForWhileTheDaemonComesBack) {
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

TEST_F(DaemonLoss, AStreamThatFailsGivesWhatItHadAndThenItsReason) {
  ServerProcess server({"batch=4", "rows=40", "fail_at=7"});
  GpuTrainer trainer(server, {});
  ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
  GpuBatch batch;
  for (int step = 0; step < 7; ++step) ASSERT_EQ(trainer.next(stream(), batch), ECHOLINE_OK);
  EXPECT_EQ(trainer.next(stream(), batch), ECHOLINE_DATA_LOSS);
  EXPECT_THAT(echoline_last_error(), HasSubstr("changed since it was indexed"));
}

TEST_F(DaemonLoss, ALoaderThatIsClosedFirstEndsTheDevicesWait) {
  ServerProcess server({"batch=4", "rows=40", "batches_max=3"});
  GpuTrainer trainer(server, {});
  std::thread closer([&] {
    usleep(100'000);
    trainer.close_loader();
  });
  EXPECT_EQ(trainer.take(stream(), 10), ECHOLINE_CANCELLED);
  closer.join();
}

}  // namespace
}  // namespace echoline::cuda_test
