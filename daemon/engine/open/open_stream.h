// Opens a stream: from its definition to all that its passes share (source, index, plan, compiled
// preparation, caches).
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"
#include "engine/runtime/memory_budget.h"
#include "record/core/index.h"

namespace echoline::engine {

struct OpenOptions {
  std::string state_dir;
  double seek_index = 0;  // share of the budget for the seek indexes of JPEG files
  bool serves = false;    // this daemon is a preparation server
  bool agrees = false;    // with those of other hosts (daemon.etcd)
  std::uint64_t stall_report_ns = 10'000'000'000;  // as StreamCore has it
};

struct OpenedStream {
  std::shared_ptr<StreamCore> core;
  MemoryBudget::Reservation cache;  // the memory of its cache
};

// Blocks: lists and indexes the data set and decodes a few records. `fail` becomes the core's.
Result<OpenedStream> open_stream(const std::string& name, const v1::Stream& stream,
                                 const OpenOptions& options, WorkerPool& pool, MemoryBudget& budget,
                                 const record::ProgressFunction& progress,
                                 std::function<void(const Status&)> fail);

}  // namespace echoline::engine
