// The base of tests that call the driver: a context, a stream, and short names for common calls.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda/driver.h"
#include "cuda/fake_driver/fake_cuda.h"
#include "cuda/more_driver_api.h"

namespace echoline::cuda_test {

using namespace client::cuda;  // NOLINT: tests use its names in every line

// Uses the driver that the process finds; skips if there is none. Device 0's primary context is
// current in the test's thread.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_ = FakeCuda::find();
    if (fake_ != nullptr) fake_->reset();
    more_ = MoreDriver::find();
    const DriverTable* driver = nullptr;
    const client::Error error = load_driver(driver);
    if (!error.ok()) GTEST_SKIP() << error.text();
    cu_ = driver;
    ASSERT_EQ(cu_->context_retain(&context_, 0), kSuccess);
    ASSERT_EQ(cu_->context_push(context_), kSuccess);
    stream_ = make_stream();
  }
  void TearDown() override {
    if (cu_ == nullptr) return;
    ContextHandle popped = nullptr;
    EXPECT_EQ(cu_->context_pop(&popped), kSuccess);
    EXPECT_EQ(popped, context_);
    if (fake_ != nullptr) {
      fake_->reset();
    } else {
      EXPECT_EQ(cu_->context_release(0), kSuccess);
    }
  }

  StreamHandle make_stream(unsigned flags = kStreamNonBlocking) {
    StreamHandle made = nullptr;
    EXPECT_EQ(cu_->stream_create(&made, flags), kSuccess);
    return made;
  }
  EventHandle make_event(unsigned flags = kEventDisableTiming) {
    EventHandle made = nullptr;
    EXPECT_EQ(cu_->event_create(&made, flags), kSuccess);
    return made;
  }
  DevicePointer allocate(std::size_t bytes) {
    DevicePointer memory = 0;
    EXPECT_EQ(cu_->mem_alloc(&memory, bytes), kSuccess);
    return memory;
  }
  // Pinned host memory.
  std::uint8_t* pin(std::size_t bytes, int fill) {
    void* memory = nullptr;
    EXPECT_EQ(cu_->host_alloc(&memory, bytes, kHostAllocPortable), kSuccess);
    std::memset(memory, fill, bytes);
    return static_cast<std::uint8_t*>(memory);
  }
  // Waits for the stream.
  std::vector<std::uint8_t> content(DevicePointer from, std::size_t bytes) {
    std::vector<std::uint8_t> to(bytes);
    EXPECT_EQ(more_->copy_to_host(to.data(), from, bytes, stream_), kSuccess);
    EXPECT_EQ(more_->stream_synchronize(stream_), kSuccess);
    return to;
  }

  const FakeCuda* fake_ = nullptr;  // null: a real driver
  const MoreDriver* more_ = nullptr;
  const DriverTable* cu_ = nullptr;
  ContextHandle context_ = nullptr;
  StreamHandle stream_ = nullptr;
};

// Skips on a real driver.
class FakeDriver : public DeviceTest {
 protected:
  void SetUp() override {
    if (FakeCuda::find() == nullptr) GTEST_SKIP() << "needs the fake driver";
    DeviceTest::SetUp();
  }
};

}  // namespace echoline::cuda_test
