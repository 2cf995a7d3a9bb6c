#include "cuda/fake_driver/call.h"

#include <unistd.h>

#include <cstdio>

namespace echoline::cuda_test {
namespace {

constexpr auto kLegacyStream = std::uintptr_t{1};  // CU_STREAM_LEGACY

}  // namespace

ThreadState& thread_state() {
  thread_local ThreadState state{};
  return state;
}

Call::Call(const char* function, Needs needs) : driver(Driver::get()), function_(function) {
  // Checked before the mutex is locked: a fork may have left it locked.
  const pid_t initialised_in = driver.initialised_in;
  if (initialised_in != 0 && initialised_in != ::getpid()) {
    refused = kNotInitialized;
    return;
  }
  lock = std::unique_lock(driver.mutex);
  check(needs);
}

void Call::check(Needs needs) {
  if (driver.exited) {
    refused = kDeinitialized;
    return;
  }
  if (needs != kNothing && driver.initialised_in == 0) {
    refused = kNotInitialized;
    return;
  }
  if (needs > kInitialised) {
    const ThreadState& state = thread_state();
    if (state.depth == 0) {
      refused = misuse("no context is current", kInvalidContext);
      return;
    }
    const auto current = driver.contexts.find(state.contexts[state.depth - 1]);
    if (current == driver.contexts.end()) {
      refused = misuse("the current context was destroyed", kContextIsDestroyed);
      return;
    }
    context = current->second;
  }
  const Failure failure = driver.faults.next(function_);
  if (failure.sticky && context != nullptr && context->error == kSuccess) {
    context->error = failure.code;
    driver.changed.notify_all();
  }
  const bool releases = needs == kContextToRelease || needs == kContextToReleaseAndNoCapture;
  if (!releases && context != nullptr) refused = context->error;
  if (!failure.sticky || context == nullptr) {
    if (failure.code != kSuccess) refused = failure.code;
  }
  const bool disturbs = needs == kContextAndNoCapture || needs == kContextToReleaseAndNoCapture;
  if (disturbs && thread_state().capture_mode != client::cuda::kCaptureRelaxed &&
      driver.capturing()) {
    refused = misuse("disturbs a capture: the thread's capture mode is not relaxed",
                     kStreamCaptureUnsupported);
  }
}

std::shared_ptr<Stream> Call::stream(StreamHandle handle) {
  if (handle != nullptr && reinterpret_cast<std::uintptr_t>(handle) != kLegacyStream) {
    return find(driver.streams, handle, "stream");
  }
  if (context->default_stream == nullptr) {
    context->default_stream = std::make_shared<Stream>(driver, context, true);
    context->streams.push_back(context->default_stream);
    context->default_stream->start();
  }
  return context->default_stream;
}

std::shared_ptr<Event> Call::event(EventHandle handle) {
  return find(driver.events, handle, "event");
}

void Call::unknown(std::uintptr_t handle, const char* kind) {
  char text[64];
  // Handles only grow: a smaller one that is not found was destroyed.
  const bool given = handle >= 0x10000 && handle <= driver.next_handle;
  std::snprintf(text, sizeof text, given ? "uses a destroyed %s" : "not a %s: %#zx", kind, handle);
  misuse(text, kInvalidHandle);
}

Code Call::misuse(const std::string& text, Code code) {
  driver.misuse(std::string(function_) + ": " + text);
  return code;
}

Code Call::enqueue(Stream& stream, Operation operation) {
  if (stream.capture != client::cuda::kCaptureNone) {
    return misuse("the stream is capturing", kStreamCaptureUnsupported);
  }
  const bool is_default = &stream == stream.context->default_stream.get();
  for (const auto& other : stream.context->streams) {
    const bool other_default = other == stream.context->default_stream;
    if (other.get() == &stream || !other->blocking || !stream.blocking) continue;
    if (!is_default && !other_default) continue;
    const auto turn = std::make_shared<Record>();
    other->push({.record = turn, .internal = true});
    stream.push({.awaited = turn, .internal = true});
  }
  stream.push(std::move(operation));
  return kSuccess;
}

Code Call::wait_for_all() {
  const std::vector<std::shared_ptr<Stream>> all = context->streams;
  std::vector<std::uint64_t> given;
  for (const auto& stream : all) given.push_back(stream->given());
  for (std::size_t i = 0; i < all.size(); ++i) {
    wait([&] { return all[i]->complete() >= given[i]; });
  }
  return state();
}

Code Call::wait_for(const Stream& stream) {
  const std::uint64_t given = stream.given();
  return wait([&] { return stream.complete() >= given; });
}

Code Call::wait_for(const Record& record) {
  return wait([&] { return record.complete; });
}

Code Call::wait(const std::function<bool()>& done) {
  driver.changed.wait(lock, [&] { return done() || context->lost(); });
  return state();
}

Code Call::state() const { return context->alive ? context->error : kContextIsDestroyed; }

}  // namespace echoline::cuda_test
