// Gives a place to the `echo` of a stream that leaves it to the daemon: from a short measurement at
// the first start, later the kept one.
#pragma once

#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/open_stream.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "record/core/index.h"

namespace echoline::engine {

struct PlacedStream {
  v1::Stream stream;  // with `echo` as a step of its pipeline
  std::string why;    // the place and the reason; empty: the definition names it
};

// Blocks: the first time it opens the stream without trainers and measures its steps for a second,
// or until there are enough records, at most a minute. Not for two threads at a time with one name.
Result<PlacedStream> place_echo(const std::string& name, const v1::Stream& definition,
                                const OpenOptions& options, WorkerPool& pool, MemoryBudget& budget,
                                const record::ProgressFunction& progress);

}  // namespace echoline::engine
