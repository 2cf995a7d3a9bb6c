// The loader that is measured, and its source: its own ring_server, which writes no pixels and so
// is faster than any link, or a stream of a daemon that runs here.
#pragma once

#include <echoline/echoline_cuda.h>

#include <cstdint>
#include <echoline/echoline.hpp>
#include <functional>
#include <memory>
#include <string>

#include "bench/gpu/gpu.h"
#include "client/server_process.h"

namespace echoline::gpu {

struct FeedOptions {
  std::string stream = {};      // of the daemon in ECHOLINE_RUNTIME_DIR; empty: a ring_server
  long rows = 256;              // of a batch of the ring_server; 150,570 bytes each
  std::uint32_t batches = ~0U;  // that the ring_server publishes before it stops
  std::uint32_t echo = 1;       // device echo, back to back
  int device = 0;
  bool staged =
      false;  // makes registering the ring fail, so that the CPU copies into pinned memory
};

// Made for one measurement, with full device buffers.
class Feed {
 public:
  Feed(Gpu& gpu, const FeedOptions& options);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Takes that many batches for the GPU's stream, puts `work` on it for each, and releases them.
  void take(long batches, const std::function<void()>& work = {});

  echoline_cuda_stats stats() const;
  // Waits until that many batches were copied and counted.
  echoline_cuda_stats stats_of(std::uint64_t batches) const;
  // Bytes that cross the link for a batch: all fields.
  std::uint64_t batch_bytes() const;

 private:
  void hold_a_page();

  Gpu& gpu_;
  std::unique_ptr<test::ServerProcess> server_;
  std::unique_ptr<Loader> loader_;
  void* held_ = nullptr;
  echoline_cuda* cuda_ = nullptr;
};

const char* path_name(std::uint32_t path);

}  // namespace echoline::gpu
