// Control of the fake CUDA driver: settings, injected failures, counters.
//
// FROZEN: the fake driver gets no new behaviour until these tests have run on a real GPU. It copies
// what CUDA's reference says, and nobody has yet compared it with a real driver;
// driver_answers_test.cc does that. Only corrections that such a run asks for may change it.
//
// tests/cuda/fake_driver is a libcuda.so.1 whose device is host memory and whose streams are
// threads. A process finds it before a real driver if its folder is in LD_LIBRARY_PATH. All
// functions may be called from any thread, before and after cuInit, but not in a child after fork.
// Each is also exported as fake_cuda_<member> with C linkage, for ctypes. Settings that a test does
// not make come from the environment (settings.h).
//
// It refuses what CUDA refuses. It also notes as misuse what CUDA leaves undefined or allows: use
// of handles, memory and registrations after their end, ending them twice, a stream that is
// destroyed before its work is done, pinned memory that is freed while a copy needs it, memory that
// is still allocated at a context's last release, a kernel whose input changes while it runs. A
// kernel's memory must be device memory, not pinned host memory.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver_api.h"

namespace echoline::cuda_test {

// First what exists now, then what was done since the start or the last reset.
struct FakeCudaCounters {
  std::uint64_t contexts;  // retained and not yet released, each retain counted
  std::uint64_t streams;
  std::uint64_t events;
  std::uint64_t modules;
  std::uint64_t device_allocations;
  std::uint64_t device_bytes;
  std::uint64_t host_allocations;
  std::uint64_t registrations;
  std::uint64_t registered_bytes;
  std::uint64_t operations;  // enqueued and not complete, on all streams

  std::uint64_t copies;           // complete, to the device
  std::uint64_t copied_bytes;     // complete, to the device
  std::uint64_t pageable_copies;  // from or to memory that is not pinned
  std::uint64_t kernels;          // complete
  std::uint64_t images;           // that modules were loaded from
  std::uint64_t torn_reads;       // calls of read_on_stream that saw wrong bytes
};

// X(member, result, parameters).
//   reset: frees all objects, forgets all failures, takes the environment's settings. The driver
//     stays initialised.
//   set_delay: copies and kernels take min_us to max_us microseconds, drawn for each when enqueued.
//   set_memory: bytes of each device.
//   fail: the nth call of `function` from now (1: the next) returns `code`; sticky: all that follow
//     too, and so does every call in the context that was current. "async" for `function` means
//     the nth copy or kernel to complete; its error is the context's from then on.
//   heal: no call fails any more, except in a context that is lost.
//   set_capture: the status that cuStreamIsCapturing returns for `stream`. While it is not 0, calls
//     that disturb a capture fail in threads whose capture mode is not relaxed.
//   set_stuck: nothing that is still queued on `stream` completes until it is set to 0 again.
//     A stream of null is the default stream of the current context.
//   read_on_stream: a kernel that takes `microseconds` and reads `bytes` from `from` several times:
//     each time their checksum must be *expected; if that is null, the same as at first.
//   misuse: the text of case `index` of misuse_count; valid until reset.
#define ECHOLINE_FAKE_CUDA_FUNCTIONS(X)                                                      \
  X(reset, void, ())                                                                         \
  X(set_delay, void, (unsigned min_us, unsigned max_us, std::uint64_t seed))                 \
  X(set_devices, void, (int count))                                                          \
  X(set_memory, void, (std::uint64_t bytes))                                                 \
  X(set_read_only_register, void, (int supported))                                           \
  X(fail, void, (const char* function, int code, int nth, int sticky))                       \
  X(heal, void, ())                                                                          \
  X(set_capture, void, (client::cuda::StreamHandle stream, int status))                      \
  X(set_stuck, void, (client::cuda::StreamHandle stream, int stuck))                         \
  X(read_on_stream, int,                                                                     \
    (client::cuda::StreamHandle stream, client::cuda::DevicePointer from, std::size_t bytes, \
     unsigned microseconds, const std::uint64_t* expected))                                  \
  X(checksum, std::uint64_t, (const void* from, std::size_t bytes))                          \
  X(counters, void, (FakeCudaCounters * counters))                                           \
  X(misuse_count, int, ())                                                                   \
  X(misuse, const char*, (int index))

struct FakeCuda {
#define ECHOLINE_FAKE_CUDA_MEMBER(member, result, parameters) result(*member) parameters = nullptr;
  ECHOLINE_FAKE_CUDA_FUNCTIONS(ECHOLINE_FAKE_CUDA_MEMBER)
#undef ECHOLINE_FAKE_CUDA_MEMBER

  // Null if libcuda.so.1 is a real driver or does not exist.
  static const FakeCuda* find() {
    static FakeCuda fake;
    static const bool found = [] {
      void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return false;
#define ECHOLINE_FAKE_CUDA_FIND(member, result, parameters)                                   \
  fake.member = reinterpret_cast<result(*) parameters>(dlsym(library, "fake_cuda_" #member)); \
  if (fake.member == nullptr) return false;
      ECHOLINE_FAKE_CUDA_FUNCTIONS(ECHOLINE_FAKE_CUDA_FIND)
#undef ECHOLINE_FAKE_CUDA_FIND
      return true;
    }();
    return found ? &fake : nullptr;
  }

  FakeCudaCounters count() const {
    FakeCudaCounters now{};
    counters(&now);
    return now;
  }
  std::vector<std::string> misuses() const {
    std::vector<std::string> texts;
    for (int i = 0; i < misuse_count(); ++i) texts.emplace_back(misuse(i));
    return texts;
  }
};

}  // namespace echoline::cuda_test
