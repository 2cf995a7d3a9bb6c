// The beginning of every function of the driver: checks that it is initialised, that a context is
// current and that no test wants it to fail; finds the objects of its arguments.
#pragma once

#include <mutex>
#include <string>

#include "cuda/fake_driver/driver.h"

namespace echoline::cuda_test {

class Call {
 public:
  enum Needs {
    kNothing,
    kInitialised,
    kContext,
    // Frees something: does that in a lost context too, and then returns its error.
    kContextToRelease,
    // Disturbs a running capture, unless the thread's capture mode is relaxed.
    kContextAndNoCapture,
    kContextToReleaseAndNoCapture,
  };
  Call(const char* function, Needs needs);

  // If not kSuccess, the function must return it at once.
  Code refused = client::cuda::kSuccess;

  Driver& driver;
  std::unique_lock<std::mutex> lock;
  std::shared_ptr<Context> context;  // the current one; null if the function needs none

  // Null after it has noted a misuse: the function must return kInvalidHandle.
  std::shared_ptr<Stream> stream(StreamHandle handle);
  std::shared_ptr<Event> event(EventHandle handle);
  template <typename Object, typename Handle>
  std::shared_ptr<Object> find(const Handles<Object>& handles, Handle handle, const char* kind) {
    const auto at = handles.find(reinterpret_cast<std::uintptr_t>(handle));
    if (at != handles.end()) return at->second;
    unknown(reinterpret_cast<std::uintptr_t>(handle), kind);
    return nullptr;
  }

  // Notes what the caller did wrong; returns `code`.
  Code misuse(const std::string& text, Code code);
  Code enqueue(Stream& stream, Operation operation);
  // Waits until everything is complete that is enqueued now on the context's streams, or on this
  // one.
  Code wait_for_all();
  Code wait_for(const Stream& stream);
  Code wait_for(const Record& record);

 private:
  Code wait(const std::function<bool()>& done);
  Code state() const;
  void check(Needs needs);
  void unknown(std::uintptr_t handle, const char* kind);

  const char* function_;
};

// The contexts that the calling thread has pushed, and its capture mode. It has no destructor:
// destructors of static objects may still call the driver.
struct ThreadState {
  static constexpr int kDepth = 16;
  std::uintptr_t contexts[kDepth];
  int depth;
  int capture_mode;
};
ThreadState& thread_state();

}  // namespace echoline::cuda_test
