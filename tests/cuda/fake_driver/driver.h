// All state of the fake driver: one driver for the process, one mutex, one condition variable.
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
  Code error = kSuccess;                         // an error of the device stays
  std::vector<std::shared_ptr<Stream>> streams;  // also closed ones that still have work
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

// Host memory that the device may read: registered, or allocated as pinned.
struct Pinned {
  HostRange range;
  Mapping mapping;  // its memory is null if registered
};

// Objects by the callers' handles. No handle is given twice, so that use after the end is detected.
template <typename Object>
using Handles = std::map<std::uintptr_t, std::shared_ptr<Object>>;

struct Driver {
  // Never destroyed: threads of streams may run until the process ends.
  static Driver& get();

  template <typename Object>
  std::uintptr_t add(Handles<Object>& handles, std::shared_ptr<Object> object) {
    next_handle += 16;
    handles.emplace(next_handle, std::move(object));
    return next_handle;
  }
  void misuse(std::string text) { misuses.push_back(std::move(text)); }
  std::chrono::microseconds draw_delay();
  // Pinned memory that overlaps the range; null if there is none.
  const Pinned* pinned_overlap(const HostRange& range) const;
  // Whether enqueued work will still read or write there.
  bool in_use(const HostRange& range) const;
  bool capturing() const;

  // Ends the context's streams and frees its memory before it returns.
  void destroy(const std::shared_ptr<Context>& context, std::unique_lock<std::mutex>& lock);
  // Everything as at the start, except that the driver stays initialised.
  void reset(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex;
  std::condition_variable changed;  // notified after every change
  std::atomic<pid_t> initialised_in{0};
  bool exited = false;
  int threads = 0;

  Settings settings;
  Faults faults;
  std::mt19937_64 random;
  std::deque<std::string> misuses;
  FakeCudaCounters done{};  // only what was done; what exists is counted when asked for

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
