// Opens a stream and starts its first pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/jobs/attached_trainers_file.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "engine/stream/stream.h"
#include "record/core/index.h"

namespace echoline::engine {

// What all streams of a daemon are opened with. Any thread; what it refers to outlives it.
struct StreamOpener {
  OpenOptions options;
  std::uint64_t reattach_grace_ns = 0;
  WorkerPool* pool = nullptr;
  MemoryBudget* budget = nullptr;
  const AttachedTrainersFile* trainers_file = nullptr;

  // Blocks, for an hour where a large data set has no index: without any lock. `progress` is also
  // asked when the stream is ready. `fail` receives a later failure, on any thread.
  Result<std::unique_ptr<Stream>> open(const std::string& name, const v1::Stream& definition,
                                       const record::ProgressFunction& progress,
                                       std::function<void(const Status&)> fail) const;
};

}  // namespace echoline::engine
