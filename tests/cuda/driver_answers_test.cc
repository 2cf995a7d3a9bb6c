// Answers of the driver that the client relies on. With the fake driver these cases test the fake
// driver; with a real driver they show whether the fake driver is right.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>
#include <vector>

#include "cuda/device_fixture.h"
#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {
namespace {

class DriverAnswers : public DeviceTest {};

TEST_F(DriverAnswers, AnEventThatWasNeverRecordedIsCompleteAndHasNoTime) {
  const EventHandle first = make_event(0);
  const EventHandle second = make_event(0);
  EXPECT_EQ(cu_->event_query(first), kSuccess);
  EXPECT_EQ(cu_->event_synchronize(first), kSuccess);
  EXPECT_EQ(cu_->stream_wait_event(stream_, first, 0), kSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, first, second), kInvalidHandle);
  const EventHandle untimed = make_event();
  for (const EventHandle event : {first, second, untimed}) {
    ASSERT_EQ(cu_->event_record(event, stream_), kSuccess);
    ASSERT_EQ(cu_->event_synchronize(event), kSuccess);
  }
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, first, second), kSuccess);
  EXPECT_GE(milliseconds, 0.0F);
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, first, untimed), kInvalidHandle);
}

TEST_F(DriverAnswers, ACopyIsThereForAStreamThatWaitedForItsEvent) {
  constexpr std::size_t kBytes = 1 << 20;
  const DevicePointer to = allocate(kBytes);
  const std::uint8_t* from = pin(kBytes, 3);
  const StreamHandle copies = make_stream();
  const EventHandle copied = make_event();
  ASSERT_EQ(cu_->copy_to_device(to, from, kBytes, copies), kSuccess);
  ASSERT_EQ(cu_->event_record(copied, copies), kSuccess);
  ASSERT_EQ(cu_->stream_wait_event(stream_, copied, 0), kSuccess);
  EXPECT_EQ(content(to, kBytes), std::vector<std::uint8_t>(kBytes, 3));
}

TEST_F(DriverAnswers, PageableMemoryCanBeChangedOnceTheCopyHasReturned) {
  constexpr std::size_t kBytes = 1 << 20;
  const DevicePointer to = allocate(kBytes);
  std::vector<std::uint8_t> from(kBytes, 3);
  ASSERT_EQ(cu_->copy_to_device(to, from.data(), kBytes, stream_), kSuccess);
  from.assign(kBytes, 4);
  EXPECT_EQ(content(to, kBytes), std::vector<std::uint8_t>(kBytes, 3));
}

TEST_F(DriverAnswers, AMappingThatIsReadOnlyIsRegisteredWithTheFlagAlone) {
  constexpr std::size_t kBytes = 1 << 16;
  void* ring = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(ring, MAP_FAILED);
  std::memset(ring, 5, kBytes);
  ASSERT_EQ(mprotect(ring, kBytes, PROT_READ), 0);
  int supported = 0;
  ASSERT_EQ(cu_->device_attribute(&supported, kAttributeReadOnlyHostRegister, 0), kSuccess);
  EXPECT_EQ(cu_->host_register(ring, kBytes, kHostRegisterPortable), kInvalidValue);
  const Code registered =
      cu_->host_register(ring, kBytes, kHostRegisterPortable | kHostRegisterReadOnly);
  EXPECT_EQ(registered, supported != 0 ? kSuccess : kNotSupported);
  const DevicePointer to = allocate(kBytes);
  ASSERT_EQ(cu_->copy_to_device(to, ring, kBytes, stream_), kSuccess);
  EXPECT_EQ(content(to, kBytes), std::vector<std::uint8_t>(kBytes, 5));
  if (registered == kSuccess) {
    EXPECT_EQ(cu_->host_unregister(ring), kSuccess);
  }
  munmap(ring, kBytes);
}

TEST_F(DriverAnswers, MemoryIsRegisteredOnceAndOnlyThenUnregistered) {
  constexpr std::size_t kBytes = 1 << 16;
  void* ring = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(ring, MAP_FAILED);
  EXPECT_EQ(cu_->host_register(ring, kBytes, kHostRegisterPortable), kSuccess);
  EXPECT_EQ(cu_->host_register(ring, kBytes, kHostRegisterPortable), kHostMemoryAlreadyRegistered);
  EXPECT_EQ(cu_->host_unregister(ring), kSuccess);
  EXPECT_EQ(cu_->host_unregister(ring), kHostMemoryNotRegistered);
  munmap(ring, kBytes);
}

TEST_F(DriverAnswers, NothingIsAllocatedWithoutASizeOrAContext) {
  DevicePointer memory = 0;
  EXPECT_EQ(cu_->mem_alloc(&memory, 0), kInvalidValue);
  std::thread([&] { EXPECT_EQ(cu_->mem_alloc(&memory, 1), kInvalidContext); }).join();
}

TEST_F(DriverAnswers, AThreadsCaptureModeIsExchanged) {
  int mode = kCaptureRelaxed;
  ASSERT_EQ(cu_->exchange_capture_mode(&mode), kSuccess);
  const int before = mode;
  ASSERT_EQ(cu_->exchange_capture_mode(&mode), kSuccess);
  EXPECT_EQ(mode, kCaptureRelaxed);
  EXPECT_EQ(before, 0) << "global, as every thread begins";
  int status = -1;
  EXPECT_EQ(cu_->stream_is_capturing(stream_, &status), kSuccess);
  EXPECT_EQ(status, kCaptureNone);
}

TEST_F(DriverAnswers, CodesHaveNames) {
  const char* name = nullptr;
  EXPECT_EQ(cu_->error_name(kEccUncorrectable, &name), kSuccess);
  EXPECT_STREQ(name, "CUDA_ERROR_ECC_UNCORRECTABLE");
  EXPECT_EQ(cu_->error_name(-5, &name), kInvalidValue);
  EXPECT_EQ(name, nullptr);
}

}  // namespace
}  // namespace echoline::cuda_test
