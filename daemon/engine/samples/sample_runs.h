// Prepares samples for other hosts: the bytes come from the stream's fetcher and its caches, the
// work is done by the workers. Without plan, pass and ring.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "engine/api/preparation.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/byte_share.h"

namespace echoline::engine {

// The bytes of all samples in preparation or on their way, estimated. Any thread.
class SampleRuns {
 public:
  explicit SampleRuns(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Checks the question; then `answer` is called once, unless the run is cancelled. kNotFound,
  // kFailedPrecondition, kInvalidArgument: it cannot be answered here. kResourceExhausted: not now.
  Result<std::shared_ptr<SampleRun>> start(const std::shared_ptr<StreamCore>& core,
                                           const SampleQuestion& question, SampleAnswer answer);

  std::uint64_t bytes() const { return bytes_->load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const { return bytes_max_; }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  // Room for so many bytes, or nothing.
  Result<ByteShare> take(std::uint64_t bytes);

  const std::uint64_t bytes_max_;
  const ByteSum bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::atomic<std::uint64_t> refused_{0};  // questions that found no room
};

}  // namespace echoline::engine
