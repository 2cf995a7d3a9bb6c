// What every function of the driver's interface begins with: is the driver there, is a context
// current, does a test want it to fail; and the objects that its arguments name.
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
    // Gives something back: does so in a context that is lost too, and then says that it is.
    kContextToRelease,
    // Disturbs a capture that is going on anywhere, unless the thread said that it knows.
    kContextAndNoCapture,
    kContextToReleaseAndNoCapture,
  };
  Call(const char* function, Needs needs);

  // Not kSuccess: the answer; nothing else is to be done.
  Code refused = client::cuda::kSuccess;

  Driver& driver;
  std::unique_lock<std::mutex> lock;
  std::shared_ptr<Context> context;  // the current one; null unless needed

  // Null after having noted a misuse: the answer is kInvalidHandle.
  std::shared_ptr<Stream> stream(StreamHandle handle);
  std::shared_ptr<Event> event(EventHandle handle);
  template <typename Object, typename Handle>
  std::shared_ptr<Object> find(const Handles<Object>& handles, Handle handle, const char* kind) {
    const auto at = handles.find(reinterpret_cast<std::uintptr_t>(handle));
    if (at != handles.end()) return at->second;
    unknown(reinterpret_cast<std::uintptr_t>(handle), kind);
    return nullptr;
  }

  // Notes what the caller did; gives `code` back.
  Code misuse(const std::string& text, Code code);
  Code enqueue(Stream& stream, Operation operation);
  // Until what is enqueued now on all streams of the context, or on this one, is complete.
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

// The handles of the contexts that the calling thread has pushed, and its capture mode. Without a
// destructor: statics' destructors may still make calls.
struct ThreadState {
  static constexpr int kDepth = 16;
  std::uintptr_t contexts[kDepth];
  int depth;
  int capture_mode;
};
ThreadState& thread_state();

}  // namespace echoline::cuda_test
