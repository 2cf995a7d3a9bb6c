// The fake driver in a whole process: its environment variables, many threads at once, the exit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "cuda/device_fixture.h"
#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {
namespace {

using ::testing::ExitedWithCode;
using ::testing::IsEmpty;

class FakeProcess : public FakeDriver {
 protected:
  // Sets the variable until the test ends.
  void set(const char* name, const char* value) {
    ASSERT_EQ(setenv(name, value, 1), 0);
    names_.emplace_back(name);
  }
  void TearDown() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
    FakeDriver::TearDown();
  }

 private:
  std::vector<std::string> names_;
};

TEST_F(FakeProcess, TheEnvironmentSaysWhatTheDeviceIsLike) {
  set("FAKE_CUDA_DEVICES", "2");
  set("FAKE_CUDA_MEMORY", "1000");
  set("FAKE_CUDA_READ_ONLY_REGISTER", "0");
  set("FAKE_CUDA_DELAY_US", "3000-4000");
  set("FAKE_CUDA_FAIL", "cuStreamCreate:999:2,async:700:2,cuEventRecord:214:3+");
  fake_->reset();
  int value = 0;
  EXPECT_EQ(cu_->device_count(&value), kSuccess);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(cu_->device_attribute(&value, kAttributeReadOnlyHostRegister, 1), kSuccess);
  EXPECT_EQ(value, 0);
  ContextHandle context = nullptr;
  ASSERT_EQ(cu_->context_retain(&context, 1), kSuccess);
  ASSERT_EQ(cu_->context_push(context), kSuccess);
  const StreamHandle stream = make_stream();
  StreamHandle refused = nullptr;
  EXPECT_EQ(cu_->stream_create(&refused, kStreamNonBlocking), kUnknown);
  const DevicePointer to = allocate(1000);
  DevicePointer more = 0;
  EXPECT_EQ(cu_->mem_alloc(&more, 1), kOutOfMemory);
  const std::uint8_t* from = pin(1000, 1);
  const EventHandle begin = make_event(0);
  const EventHandle end = make_event(0);
  ASSERT_EQ(cu_->event_record(begin, stream), kSuccess);
  ASSERT_EQ(cu_->copy_to_device(to, from, 1000, stream), kSuccess);
  ASSERT_EQ(cu_->event_record(end, stream), kSuccess);
  ASSERT_EQ(cu_->event_synchronize(end), kSuccess);
  float milliseconds = 0;
  ASSERT_EQ(cu_->event_elapsed(&milliseconds, begin, end), kSuccess);
  EXPECT_GE(milliseconds, 3.0F);
  EXPECT_EQ(cu_->event_record(end, stream), kEccUncorrectable);
  EXPECT_EQ(cu_->copy_to_device(to, from, 1000, stream), kEccUncorrectable);
  ContextHandle popped = nullptr;
  EXPECT_EQ(cu_->context_pop(&popped), kSuccess);
}

// A copy stream that fills a buffer when its reader has released it, and a trainer's stream.
TEST_F(FakeProcess, APipelineThatWaitsAsItShouldIsNeverSeenToTear) {
  constexpr std::size_t kBytes = 3000;
  constexpr int kBuffers = 3;
  constexpr int kBatches = 100;
  const StreamHandle trainer = make_stream();
  struct Buffer {
    std::uint8_t* host;
    DevicePointer device;
    EventHandle copied;
    EventHandle consumed;
  };
  std::vector<Buffer> buffers;
  for (int i = 0; i < kBuffers; ++i) {
    buffers.push_back({pin(kBytes, 0), allocate(kBytes), make_event(), make_event()});
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    const Buffer& buffer = buffers[batch % kBuffers];
    ASSERT_EQ(cu_->event_synchronize(buffer.copied), kSuccess);  // its slot is free
    std::memset(buffer.host, batch, kBytes);
    const std::uint64_t expected = fake_->checksum(buffer.host, kBytes);
    ASSERT_EQ(cu_->stream_wait_event(stream_, buffer.consumed, 0), kSuccess);
    ASSERT_EQ(cu_->copy_to_device(buffer.device, buffer.host, kBytes, stream_), kSuccess);
    ASSERT_EQ(cu_->event_record(buffer.copied, stream_), kSuccess);
    ASSERT_EQ(cu_->stream_wait_event(trainer, buffer.copied, 0), kSuccess);
    ASSERT_EQ(fake_->read_on_stream(trainer, buffer.device, kBytes, 300, &expected), kSuccess);
    ASSERT_EQ(cu_->event_record(buffer.consumed, trainer), kSuccess);
  }
  ASSERT_EQ(more_->context_synchronize(), kSuccess);
  EXPECT_EQ(fake_->count().torn_reads, 0);
  EXPECT_EQ(fake_->count().copied_bytes, kBatches * kBytes);
  EXPECT_EQ(fake_->count().operations, 0);
  EXPECT_THAT(fake_->misuses(), IsEmpty());
}

TEST_F(FakeProcess, ThreadsComeAndGoWithStreamsAndMemoryOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_EQ(cu_->context_push(context_), kSuccess);
      for (int round = 0; round < 10; ++round) {
        const StreamHandle stream = make_stream();
        const DevicePointer to = allocate(500);
        std::uint8_t* from = pin(500, i + 1);
        ASSERT_EQ(cu_->copy_to_device(to, from, 500, stream), kSuccess);
        std::uint8_t last = 0;
        ASSERT_EQ(more_->copy_to_host(&last, to + 499, 1, stream), kSuccess);
        EXPECT_EQ(last, i + 1);
        ASSERT_EQ(cu_->stream_destroy(stream), kSuccess);
        ASSERT_EQ(cu_->mem_free(to), kSuccess);
        ASSERT_EQ(cu_->host_free(from), kSuccess);
      }
      ContextHandle popped = nullptr;
      ASSERT_EQ(cu_->context_pop(&popped), kSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(fake_->misuses(), IsEmpty());
  EXPECT_EQ(fake_->count().device_bytes, 0);
  EXPECT_EQ(fake_->count().host_allocations, 0);
}

TEST_F(FakeProcess, AProcessEndsWithWorkThatNeverCompletes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [&] {
    fake_->set_stuck(stream_, 1);
    cu_->event_record(make_event(), stream_);
    std::exit(0);
  };
  EXPECT_EXIT(end(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace echoline::cuda_test
