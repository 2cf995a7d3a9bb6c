// How the device reads the ring.
#include <gmock/gmock.h>

#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;

class HostPagesTest : public FakeGpuTest {};

TEST_F(HostPagesTest, ThePathFollowsWhatDeviceAndRingAllow) {
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

}  // namespace
}  // namespace echoline::cuda_test
