// The driver's functions for streams, events and captures.
#include "cuda/fake_driver/call.h"
#include "cuda/fake_driver/exports.h"

namespace echoline::cuda_test {

Code cuStreamCreate(StreamHandle* handle, unsigned flags) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  if (flags > kStreamNonBlocking) return kInvalidValue;
  auto stream = std::make_shared<Stream>(call.driver, call.context, flags == 0);
  call.context->streams.push_back(stream);
  stream->start();
  *handle = reinterpret_cast<StreamHandle>(call.driver.add(call.driver.streams, stream));
  return kSuccess;
}

Code cuStreamDestroy_v2(StreamHandle handle) {
  Call call(__func__, Call::kContextToRelease);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.find(call.driver.streams, handle, "stream");
  if (stream == nullptr) return kInvalidHandle;
  if (stream->pending() > 0 && !call.context->lost()) {
    call.misuse("the stream has work to do", kSuccess);
  }
  stream->close();
  call.driver.streams.erase(reinterpret_cast<std::uintptr_t>(handle));
  return call.context->error;
}

Code cuStreamSynchronize(StreamHandle handle) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  return stream == nullptr ? kInvalidHandle : call.wait_for(*stream);
}

Code cuStreamWaitEvent(StreamHandle stream_handle, EventHandle event_handle, unsigned flags) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  if (flags != 0) return kInvalidValue;
  const auto stream = call.stream(stream_handle);
  const auto event = call.event(event_handle);
  if (stream == nullptr || event == nullptr) return kInvalidHandle;
  if (stream->capture != kCaptureNone) {
    return call.misuse("a capturing stream waits for what is not captured",
                       kStreamCaptureIsolation);
  }
  return call.enqueue(*stream, {.awaited = event->latest});
}

Code cuStreamIsCapturing(StreamHandle handle, int* status) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(handle);
  if (stream == nullptr) return kInvalidHandle;
  *status = stream->capture;
  return kSuccess;
}

Code cuThreadExchangeStreamCaptureMode(int* mode) {
  Call call(__func__, Call::kInitialised);
  if (call.refused != kSuccess) return call.refused;
  if (*mode < 0 || *mode > kCaptureRelaxed) return kInvalidValue;
  std::swap(*mode, thread_state().capture_mode);
  return kSuccess;
}

Code cuEventCreate(EventHandle* handle, unsigned flags) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  if ((flags & ~(kEventBlockingSync | kEventDisableTiming)) != 0) return kInvalidValue;
  auto event = std::make_shared<Event>();
  event->context = call.context;
  event->timed = (flags & kEventDisableTiming) == 0;
  *handle = reinterpret_cast<EventHandle>(call.driver.add(call.driver.events, event));
  return kSuccess;
}

Code cuEventDestroy_v2(EventHandle handle) {
  Call call(__func__, Call::kContextToRelease);
  if (call.refused != kSuccess) return call.refused;
  if (call.event(handle) == nullptr) return kInvalidHandle;
  call.driver.events.erase(reinterpret_cast<std::uintptr_t>(handle));
  return call.context->error;
}

Code cuEventRecord(EventHandle event_handle, StreamHandle stream_handle) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto stream = call.stream(stream_handle);
  const auto event = call.event(event_handle);
  if (stream == nullptr || event == nullptr) return kInvalidHandle;
  if (event->context.lock() != stream->context) return kInvalidHandle;
  const auto record = std::make_shared<Record>();
  const Code code = call.enqueue(*stream, {.record = record});
  if (code == kSuccess) event->latest = record;
  return code;
}

Code cuEventQuery(EventHandle handle) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  const auto event = call.event(handle);
  if (event == nullptr) return kInvalidHandle;
  if (event->latest == nullptr) return kSuccess;
  const auto context = event->context.lock();
  if (context != nullptr && context->error != kSuccess) return context->error;
  return event->latest->complete ? kSuccess : kNotReady;
}

Code cuEventSynchronize(EventHandle handle) {
  Call call(__func__, Call::kContextAndNoCapture);
  if (call.refused != kSuccess) return call.refused;
  const auto event = call.event(handle);
  if (event == nullptr) return kInvalidHandle;
  const auto latest = event->latest;
  if (latest == nullptr) return kSuccess;
  const auto context = event->context.lock();
  const Code code = call.wait_for(*latest);
  return code == kSuccess && context != nullptr ? context->error : code;
}

Code cuEventElapsedTime(float* milliseconds, EventHandle begin_handle, EventHandle end_handle) {
  Call call(__func__, Call::kContext);
  if (call.refused != kSuccess) return call.refused;
  const auto begin = call.event(begin_handle);
  const auto end = call.event(end_handle);
  if (begin == nullptr || end == nullptr) return kInvalidHandle;
  if (!begin->timed || !end->timed) return call.misuse("an event has no time", kInvalidHandle);
  if (begin->latest == nullptr || end->latest == nullptr) {
    return call.misuse("an event was never recorded", kInvalidHandle);
  }
  if (!begin->latest->complete || !end->latest->complete) return kNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->latest->when - begin->latest->when).count();
  return kSuccess;
}

}  // namespace echoline::cuda_test
