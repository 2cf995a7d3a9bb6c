// Kernels on the fake driver: they run in the stream's order and only on device memory, and a
// change of their input while they run is seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/device_fixture.h"
#include "cuda/fake_driver/codes.h"
#include "cuda/kernel_params.h"

namespace echoline::cuda_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FakeKernels : public FakeDriver {
 protected:
  void SetUp() override {
    FakeDriver::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(cu_->module_load(&module_, "any image"), kSuccess);
    ASSERT_EQ(cu_->module_function(&flip_, module_, "echoline_flip"), kSuccess);
    from_ = allocate(4);
    to_ = allocate(4);
    std::uint8_t* pixels = pin(4, 0);
    for (int i = 0; i < 4; ++i) pixels[i] = static_cast<std::uint8_t>(i);
    flips_ = allocate(1);
    ASSERT_EQ(cu_->copy_to_device(from_, pixels, 4, stream_), kSuccess);
    ASSERT_EQ(cu_->copy_to_device(flips_, pin(1, 1), 1, stream_), kSuccess);
  }
  Code launch(FlipParams params, unsigned threads = 32) {
    void* parameters[] = {&params};
    return cu_->launch_kernel(flip_, 1, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr);
  }
  FlipParams four_pixels() const {
    return {reinterpret_cast<const std::uint8_t*>(from_),
            reinterpret_cast<std::uint8_t*>(to_),
            reinterpret_cast<const std::uint8_t*>(flips_),
            1,
            1,
            4,
            1};
  }

  ModuleHandle module_ = nullptr;
  FunctionHandle flip_ = nullptr;
  DevicePointer from_ = 0;
  DevicePointer to_ = 0;
  DevicePointer flips_ = 0;
};

TEST_F(FakeKernels, RunAfterTheCopiesBeforeThemWithTheParametersOfTheCall) {
  ASSERT_EQ(launch(four_pixels()), kSuccess);  // the parameters are gone when the kernel runs
  EXPECT_THAT(content(to_, 4), ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(fake_->count().kernels, 1);
  EXPECT_EQ(fake_->count().images, 1);
  EXPECT_THAT(fake_->misuses(), IsEmpty());
}

TEST_F(FakeKernels, ThatLeaveTheirMemoryBreakTheContext) {
  FlipParams params = four_pixels();
  params.width = 5;
  ASSERT_EQ(launch(params), kSuccess) << "only the device finds out";
  EXPECT_EQ(more_->stream_synchronize(stream_), kIllegalAddress);
  EXPECT_EQ(launch(four_pixels()), kIllegalAddress);
  EXPECT_THAT(fake_->misuses(), ElementsAre(HasSubstr("not allocated")));
}

TEST_F(FakeKernels, SeeAnInputThatIsWrittenTooEarly) {
  ASSERT_EQ(more_->stream_synchronize(stream_), kSuccess);
  fake_->set_delay(300000, 300000, 1);
  ASSERT_EQ(launch(four_pixels()), kSuccess);
  fake_->set_delay(0, 0, 1);
  const StreamHandle other = make_stream();
  std::uint8_t* pixels = pin(4, 0);
  // Writes other bytes again and again until the kernel is done, so that some come while it runs.
  for (std::uint32_t written = 1; fake_->count().kernels == 0; ++written) {
    std::memcpy(pixels, &written, sizeof written);
    ASSERT_EQ(cu_->copy_to_device(from_, pixels, 4, other), kSuccess);
    ASSERT_EQ(more_->stream_synchronize(other), kSuccess);
  }
  EXPECT_THAT(fake_->misuses(), ElementsAre("echoline_flip: its input changed while it ran"));
}

TEST_F(FakeKernels, OfASizeThatNoDeviceTakesAreRefused) {
  EXPECT_EQ(launch(four_pixels(), 1025), kInvalidValue);
  EXPECT_EQ(launch(four_pixels(), 0), kInvalidValue);
}

TEST_F(FakeKernels, ThatDoNotExistAreNotFound) {
  FunctionHandle function = nullptr;
  EXPECT_EQ(cu_->module_function(&function, module_, "echoline_twirl"), kNotFound);
  EXPECT_EQ(cu_->module_unload(module_), kSuccess);
  EXPECT_EQ(launch(four_pixels()), kInvalidHandle) << "its module is gone";
}

}  // namespace
}  // namespace echoline::cuda_test
