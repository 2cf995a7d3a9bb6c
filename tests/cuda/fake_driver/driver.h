// All state of the stand-in: one driver a process, one mutex, one condition.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "cuda/fake_driver/fake_cuda.h"
#include "cuda/fake_driver/faults.h"
#include "cuda/fake_driver/memory.h"
#include "cuda/fake_driver/settings.h"
#include "cuda/fake_driver/stream.h"
#include "cuda/host_kernels.h"

namespace echoline::cuda_test {

// A device's primary context, from its first retain to its last release.
struct Context {
  DeviceId device;
  int retains = 0;
  bool alive = true;
  Code error = kSuccess;                         // a device's error stays
  std::vector<std::shared_ptr<Stream>> streams;  // also those that are closed and not yet done
  std::shared_ptr<Stream> default_stream;
  Mappings memory;
  std::uint64_t memory_used = 0;

  // Nothing of it runs any more.
  bool lost() const { return !alive || error != kSuccess; }
};

struct Function {
  std::uintptr_t module;
  const HostKernel* kernel;
};

// Host memory that the device may read: registered, or allocated for it.
struct Pinned {
  HostRange range;
  Mapping mapping;  // of memory null: registered
};

// Objects by the handles that callers have. No handle is given twice, so that one that is used
// after its end is found out.
template <typename Object>
using Handles = std::map<std::uintptr_t, std::shared_ptr<Object>>;

struct Driver {
  // The process's; never destroyed, as streams' threads may outlive everything else.
  static Driver& get();

  template <typename Object>
  std::uintptr_t add(Handles<Object>& handles, std::shared_ptr<Object> object) {
    next_handle += 16;
    handles.emplace(next_handle, std::move(object));
    return next_handle;
  }
  void misuse(std::string text) { misuses.push_back(std::move(text)); }
  std::chrono::microseconds draw_delay();
  // A piece of pinned memory that has something of the range; null if none has.
  const Pinned* pinned_overlap(const HostRange& range) const;
  // Whether something enqueued has yet to read or write there.
  bool in_use(const HostRange& range) const;
  bool capturing() const;

  // Ends all that the context has; its memory is gone when this comes back.
  void destroy(const std::shared_ptr<Context>& context, std::unique_lock<std::mutex>& lock);
  // Everything as at the start, but for cuInit.
  void reset(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex;
  std::condition_variable changed;  // of anything
  std::atomic<pid_t> initialised_in{0};
  bool exited = false;
  int threads = 0;

  Settings settings;
  Faults faults;
  std::mt19937_64 random;
  std::deque<std::string> misuses;
  FakeCudaCounters done{};  // only what was done; what is alive is counted where it is

  std::uintptr_t next_handle = 0x10000;
  Handles<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<std::weak_ptr<Context>> modules;
  Handles<Function> functions;
  std::map<std::uintptr_t, Pinned> pinned;  // by first address

 private:
  Driver();
};

}  // namespace echoline::cuda_test
