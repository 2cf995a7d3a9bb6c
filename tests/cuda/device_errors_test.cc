// Errors of the driver and lost devices: a clear status, no hang, and nothing stays allocated.
#include <gmock/gmock.h>

#include "cuda/fake_driver/codes.h"
#include "cuda/gpu_trainer.h"

namespace echoline::cuda_test {
namespace {

using test::ServerProcess;
using testing::HasSubstr;

// Without those that free something: what they refuse to free stays allocated.
std::vector<std::string> functions_that_can_fail() {
  std::vector<std::string> names;
#define ECHOLINE_NAME(member, symbol, parameters) names.push_back(#symbol);
  ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_NAME)
#undef ECHOLINE_NAME
  std::erase_if(names, [](const std::string& name) {
    for (const char* freeing : {"Free", "Destroy", "Unregister", "Unload", "Release", "Pop"}) {
      if (name.find(freeing) != std::string::npos) return true;
    }
    return false;
  });
  return names;
}

class DeviceErrors : public FakeGpuTest {};

TEST_F(DeviceErrors, AnyCallThatFailsEndsInAStatusAndLeavesNothing) {
  int seen = 0;
  for (const std::string& function : functions_that_can_fail()) {
    for (const int nth : {1, 2, 9, 40}) {
      ServerProcess server({"batch=4", "rows=40", "slots=3", "sealed=0"});
      fake_->fail(function.c_str(), kUnknown, nth, 0);
      GpuTrainer trainer(server, {.factor = 2, .window = 2});
      int status = trainer.status();
      std::string text = trainer.error();
      if (status == ECHOLINE_OK) {
        status = trainer.take(stream(), 30);
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

TEST_F(DeviceErrors, ADeviceThatIsLostAtAnyMomentIsAnError) {
  for (const int nth : {1, 5, 17, 60}) {
    ServerProcess server({"batch=4", "rows=40", "slots=3"});
    fake_->set_delay(0, 500, 3);
    fake_->fail("async", kIllegalAddress, nth, 1);
    {
      GpuTrainer trainer(server, {});
      ASSERT_EQ(trainer.status(), ECHOLINE_OK) << trainer.error();
      EXPECT_EQ(trainer.take(stream(), 100), ECHOLINE_DATA_LOSS);
      EXPECT_THAT(echoline_last_error(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
      EXPECT_EQ(trainer.take(stream(), 1), ECHOLINE_DATA_LOSS) << "for good";
    }
    TearDown();
    SetUp();
  }
}

TEST_F(DeviceErrors, ADeviceWithoutMemoryIsAnErrorThatSaysWhatToLower) {
  fake_->set_memory(3000);
  ServerProcess server({"batch=4", "rows=40"});
  const GpuTrainer trainer(server, {.depth = 16});
  EXPECT_EQ(trainer.status(), ECHOLINE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(trainer.error(), HasSubstr("lower the depth"));
}

TEST_F(DeviceErrors, ADeviceThatIsNotThereIsNamed) {
  ServerProcess server({"batch=4", "rows=40"});
  const GpuTrainer trainer(server, {.device = 7});
  EXPECT_EQ(trainer.status(), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(trainer.error(), HasSubstr("no CUDA device 7; the driver shows 1"));
}

}  // namespace
}  // namespace echoline::cuda_test
