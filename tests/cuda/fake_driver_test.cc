// The fake driver does what CUDA's reference says, and notes misuse by callers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "cuda/device_fixture.h"
#include "cuda/driver.h"
#include "cuda/fake_driver/codes.h"

namespace echoline::cuda_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(FakeDriver, ACopyReadsItsSourceWhenItCompletesNotWhenItIsCalled) {
  constexpr std::size_t kBytes = 10000;
  const DevicePointer to = allocate(kBytes);
  std::uint8_t* from = pin(kBytes, 1);
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->copy_to_device(to, from, kBytes, stream_), kSuccess);
  std::memset(from, 2, kBytes);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(content(to, kBytes), std::vector<std::uint8_t>(kBytes, 2));
  EXPECT_EQ(fake_->count().copied_bytes, kBytes);
  EXPECT_THAT(fake_->misuses(), IsEmpty());
}

TEST_F(FakeDriver, PageableMemoryIsReadBeforeTheCallReturns) {
  const DevicePointer to = allocate(100);
  std::vector<std::uint8_t> from(100, 1);
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->copy_to_device(to, from.data(), from.size(), stream_), kSuccess);
  from.assign(100, 2);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(content(to, 100), std::vector<std::uint8_t>(100, 1));
  EXPECT_EQ(fake_->count().pageable_copies, 2);  // one more by content()
}

TEST_F(FakeDriver, AnEventIsCompleteWhenTheWorkBeforeItIs) {
  const EventHandle copied = make_event();
  EXPECT_EQ(cu_->event_query(copied), kSuccess) << "never recorded";
  const DevicePointer to = allocate(100);
  const std::uint8_t* from = pin(100, 1);
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->copy_to_device(to, from, 100, stream_), kSuccess);
  ASSERT_EQ(cu_->event_record(copied, stream_), kSuccess);
  EXPECT_EQ(cu_->event_query(copied), kNotReady);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(cu_->event_synchronize(copied), kSuccess);
  EXPECT_EQ(cu_->event_query(copied), kSuccess);
  EXPECT_EQ(fake_->count().copies, 1);
}

TEST_F(FakeDriver, AStreamWaitsForTheRecordThatWasTheLatestWhenItWasTold) {
  const StreamHandle second = make_stream();
  const StreamHandle waiting = make_stream();
  const EventHandle consumed = make_event();
  const EventHandle after = make_event();
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->event_record(consumed, stream_), kSuccess);
  ASSERT_EQ(cu_->stream_wait_event(waiting, consumed, 0), kSuccess);
  ASSERT_EQ(cu_->event_record(after, waiting), kSuccess);
  // A second record completes at once, but the waiting stream waits for the first one.
  ASSERT_EQ(cu_->event_record(consumed, second), kSuccess);
  EXPECT_EQ(cu_->event_synchronize(consumed), kSuccess);
  EXPECT_EQ(cu_->event_query(after), kNotReady);
  ASSERT_EQ(cu_->stream_wait_event(second, consumed, 0), kSuccess);
  EXPECT_EQ(more_->stream_synchronize(second), kSuccess);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(cu_->event_synchronize(after), kSuccess);
}

TEST_F(FakeDriver, ANonBlockingStreamDoesNotWaitForTheDefaultOneABlockingOneDoes) {
  fake_->set_stuck(nullptr, 1);
  const EventHandle marked = make_event();
  ASSERT_EQ(cu_->event_record(marked, nullptr), kSuccess);
  EXPECT_EQ(more_->stream_synchronize(stream_), kSuccess);
  const StreamHandle blocking = make_stream(0);
  const EventHandle after = make_event();
  ASSERT_EQ(cu_->event_record(after, blocking), kSuccess);
  EXPECT_EQ(cu_->event_query(after), kNotReady);
  fake_->set_stuck(nullptr, 0);
  EXPECT_EQ(cu_->event_synchronize(after), kSuccess);
  ASSERT_EQ(cu_->event_record(marked, nullptr), kSuccess);
  EXPECT_EQ(cu_->stream_destroy(blocking), kSuccess) << "has nothing more to do itself";
  EXPECT_THAT(fake_->misuses(), IsEmpty());
}

TEST_F(FakeDriver, TheTimeBetweenTwoEventsIsWhatPassed) {
  fake_->set_delay(20000, 20000, 1);
  const DevicePointer to = allocate(100);
  const std::uint8_t* from = pin(100, 1);
  const EventHandle begin = make_event(0);
  const EventHandle end = make_event(0);
  float milliseconds = 0;
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->event_record(begin, stream_), kSuccess);
  ASSERT_EQ(cu_->copy_to_device(to, from, 100, stream_), kSuccess);
  ASSERT_EQ(cu_->event_record(end, stream_), kSuccess);
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, begin, end), kNotReady);
  fake_->set_stuck(stream_, 0);
  ASSERT_EQ(cu_->event_synchronize(end), kSuccess);
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, begin, end), kSuccess);
  EXPECT_GE(milliseconds, 20.0F);
  const EventHandle untimed = make_event();
  ASSERT_EQ(cu_->event_record(untimed, stream_), kSuccess);
  EXPECT_EQ(cu_->event_elapsed(&milliseconds, untimed, end), kInvalidHandle);
}

TEST_F(FakeDriver, AMappingThatIsReadOnlyCanBeRegisteredOnlyWithTheFlag) {
  void* ring = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(ring, MAP_FAILED);
  EXPECT_EQ(cu_->host_register(ring, 8192, kHostRegisterPortable), kInvalidValue);
  constexpr unsigned kFlags = kHostRegisterPortable | kHostRegisterReadOnly;
  fake_->set_read_only_register(0);
  EXPECT_EQ(cu_->host_register(ring, 8192, kFlags), kNotSupported);
  fake_->set_read_only_register(1);
  EXPECT_EQ(cu_->host_register(ring, 8192, kFlags), kSuccess);
  EXPECT_EQ(cu_->host_register(static_cast<char*>(ring) + 4096, 4096, kFlags),
            kHostMemoryAlreadyRegistered);
  EXPECT_EQ(fake_->count().registered_bytes, 8192);
  EXPECT_EQ(cu_->host_unregister(ring), kSuccess);
  EXPECT_THAT(fake_->misuses(), IsEmpty());
  ASSERT_EQ(mprotect(ring, 4096, PROT_NONE), 0);
  EXPECT_EQ(cu_->host_register(ring, 8192, kFlags), kInvalidValue) << "cannot even be read";
  munmap(ring, 8192);
}

TEST_F(FakeDriver, MemoryRunsOutAndComesBack) {
  fake_->set_memory(1000);
  const DevicePointer first = allocate(600);
  DevicePointer second = 0;
  EXPECT_EQ(cu_->mem_alloc(&second, 600), kOutOfMemory);
  EXPECT_EQ(cu_->mem_free(first), kSuccess);
  EXPECT_EQ(cu_->mem_alloc(&second, 600), kSuccess);
  EXPECT_EQ(fake_->count().device_bytes, 600);
}

TEST_F(FakeDriver, FreeingDeviceMemoryWaitsForTheDevice) {
  fake_->set_delay(20000, 20000, 1);
  const DevicePointer to = allocate(100);
  const std::uint8_t* from = pin(100, 1);
  ASSERT_EQ(cu_->copy_to_device(to, from, 100, stream_), kSuccess);
  EXPECT_EQ(cu_->mem_free(to), kSuccess);
  EXPECT_EQ(fake_->count().copies, 1);
}

TEST_F(FakeDriver, WhatIsDoneWrongIsTold) {
  const DevicePointer to = allocate(100);
  std::vector<std::uint8_t> page(4096);
  ASSERT_EQ(cu_->host_register(page.data(), 4096, 0), kSuccess);
  EXPECT_EQ(cu_->copy_to_device(to, page.data(), 101, stream_), kInvalidValue);
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->copy_to_device(to, page.data(), 100, stream_), kSuccess);
  EXPECT_EQ(cu_->host_unregister(page.data()), kSuccess);
  EXPECT_EQ(cu_->host_unregister(page.data()), kHostMemoryNotRegistered);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(cu_->mem_free(to), kSuccess);
  EXPECT_EQ(cu_->mem_free(to), kInvalidValue);
  const EventHandle gone = make_event();
  EXPECT_EQ(cu_->event_destroy(gone), kSuccess);
  EXPECT_EQ(cu_->event_record(gone, stream_), kInvalidHandle);
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->event_record(make_event(), stream_), kSuccess);
  const auto stuck = stream_;
  EXPECT_EQ(cu_->stream_destroy(stuck), kSuccess);
  EXPECT_EQ(cu_->stream_destroy(stuck), kInvalidHandle);
  EXPECT_THAT(fake_->misuses(),
              ElementsAre("cuMemcpyHtoDAsync_v2: the device's memory is not allocated",
                          "cuMemHostUnregister: a copy still needs it",
                          "cuMemHostUnregister: is not registered",
                          "cuMemFree_v2: is not allocated", "cuEventRecord: uses a destroyed event",
                          "cuStreamDestroy_v2: the stream has work to do",
                          "cuStreamDestroy_v2: uses a destroyed stream"));
}

TEST_F(FakeDriver, ACallWithoutACurrentContextIsRefused) {
  std::thread([&] {
    DevicePointer memory = 0;
    EXPECT_EQ(cu_->mem_alloc(&memory, 1), kInvalidContext);
    ContextHandle current = context_;
    EXPECT_EQ(more_->context_current(&current), kSuccess);
    EXPECT_EQ(current, nullptr);
  }).join();
  EXPECT_THAT(fake_->misuses(), ElementsAre("cuMemAlloc_v2: no context is current"));
}

TEST_F(FakeDriver, AChosenCallFailsOnce) {
  fake_->fail("cuMemAlloc_v2", kOutOfMemory, 2, 0);
  DevicePointer memory = 0;
  EXPECT_EQ(cu_->mem_alloc(&memory, 1), kSuccess);
  EXPECT_EQ(cu_->mem_alloc(&memory, 1), kOutOfMemory);
  EXPECT_EQ(cu_->mem_alloc(&memory, 1), kSuccess);
}

TEST_F(FakeDriver, ALostDeviceFailsEverythingAndStillTakesBackWhatItGave) {
  const DevicePointer to = allocate(100);
  fake_->fail("cuEventRecord", kEccUncorrectable, 1, 1);
  const EventHandle copied = make_event();
  EXPECT_EQ(cu_->event_record(copied, stream_), kEccUncorrectable);
  EXPECT_EQ(cu_->event_query(copied), kEccUncorrectable);
  EXPECT_EQ(cu_->event_destroy(copied), kEccUncorrectable);
  EXPECT_EQ(cu_->mem_free(to), kEccUncorrectable);
  EXPECT_EQ(cu_->stream_destroy(stream_), kEccUncorrectable);
  const FakeCudaCounters left = fake_->count();
  EXPECT_EQ(left.device_allocations + left.events + left.streams, 0);
}

TEST_F(FakeDriver, AnErrorOnAStreamShowsAtTheNextCall) {
  const DevicePointer to = allocate(100);
  const std::uint8_t* from = pin(100, 1);
  fake_->fail("async", kIllegalAddress, 1, 0);
  const EventHandle copied = make_event();
  fake_->set_stuck(stream_, 1);
  ASSERT_EQ(cu_->copy_to_device(to, from, 100, stream_), kSuccess);
  ASSERT_EQ(cu_->event_record(copied, stream_), kSuccess);
  fake_->set_stuck(stream_, 0);
  EXPECT_EQ(cu_->event_synchronize(copied), kIllegalAddress);
  EXPECT_EQ(cu_->copy_to_device(to, from, 100, stream_), kIllegalAddress);
}

TEST_F(FakeDriver, ACaptureIsNotDisturbedByThreadsThatSaySo) {
  fake_->set_capture(stream_, 1);
  int status = 0;
  EXPECT_EQ(cu_->stream_is_capturing(stream_, &status), kSuccess);
  EXPECT_EQ(status, 1);
  const EventHandle copied = make_event();
  EXPECT_EQ(cu_->event_query(copied), kStreamCaptureUnsupported);
  int mode = kCaptureRelaxed;
  EXPECT_EQ(cu_->exchange_capture_mode(&mode), kSuccess);
  EXPECT_EQ(mode, 0);
  EXPECT_EQ(cu_->event_query(copied), kSuccess);
  EXPECT_EQ(cu_->exchange_capture_mode(&mode), kSuccess);
  EXPECT_EQ(cu_->stream_wait_event(stream_, copied, 0), kStreamCaptureIsolation);
}

TEST_F(FakeDriver, ATrainerSeesABufferThatIsWrittenTooEarly) {
  constexpr std::size_t kBytes = 5000;
  const DevicePointer buffer = allocate(kBytes);
  const std::uint8_t* from = pin(kBytes, 7);
  const std::uint64_t expected = fake_->checksum(from, kBytes);
  const StreamHandle trainer = make_stream();
  const EventHandle copied = make_event();
  ASSERT_EQ(cu_->copy_to_device(buffer, from, kBytes, stream_), kSuccess);
  ASSERT_EQ(cu_->event_record(copied, stream_), kSuccess);
  ASSERT_EQ(cu_->stream_wait_event(trainer, copied, 0), kSuccess);
  ASSERT_EQ(fake_->read_on_stream(trainer, buffer, kBytes, 1000, &expected), kSuccess);
  ASSERT_EQ(more_->stream_synchronize(trainer), kSuccess);
  EXPECT_EQ(fake_->count().torn_reads, 0);

  const std::uint8_t* next = pin(kBytes, 8);
  fake_->set_stuck(trainer, 1);
  ASSERT_EQ(fake_->read_on_stream(trainer, buffer, kBytes, 1000, &expected), kSuccess);
  ASSERT_EQ(cu_->copy_to_device(buffer, next, kBytes, stream_), kSuccess);
  ASSERT_EQ(more_->stream_synchronize(stream_), kSuccess);
  fake_->set_stuck(trainer, 0);
  ASSERT_EQ(more_->stream_synchronize(trainer), kSuccess);
  EXPECT_EQ(fake_->count().torn_reads, 1);
}

TEST_F(FakeDriver, TwoDevicesAreLostOneByOne) {
  fake_->set_devices(2);
  ContextHandle second = nullptr;
  ASSERT_EQ(cu_->context_retain(&second, 1), kSuccess);
  EXPECT_NE(second, context_);
  const EventHandle of_first = make_event();
  ASSERT_EQ(cu_->context_push(second), kSuccess);
  StreamHandle stream_of_second = nullptr;
  ASSERT_EQ(cu_->stream_create(&stream_of_second, kStreamNonBlocking), kSuccess);
  EXPECT_EQ(cu_->event_record(of_first, stream_of_second), kInvalidHandle);
  fake_->fail("cuMemAlloc_v2", kEccUncorrectable, 1, 1);
  DevicePointer memory = 0;
  EXPECT_EQ(cu_->mem_alloc(&memory, 1), kEccUncorrectable);
  ContextHandle popped = nullptr;
  ASSERT_EQ(cu_->context_pop(&popped), kSuccess);
  EXPECT_EQ(cu_->event_record(of_first, stream_), kSuccess);
  EXPECT_EQ(cu_->context_release(1), kSuccess);
  EXPECT_EQ(fake_->count().contexts, 1);
  EXPECT_EQ(cu_->context_release(1), kInvalidContext);
}

TEST_F(FakeDriver, AForkedChildHasNoDriver) {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cu_->device_count(&count) == kNotInitialized ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace echoline::cuda_test
