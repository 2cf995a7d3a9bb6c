// Finds the stream of a question that another host asks, and limits all of them together.
#pragma once

#include <memory>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/preparation.h"
#include "engine/api/stats.h"
#include "engine/runtime/memory_budget.h"
#include "engine/samples/sample_runs.h"
#include "engine/stream/stream_driver.h"

namespace echoline::engine {

// What is read without the lock; the stream may be deleted meanwhile.
Result<std::shared_ptr<StreamCore>> core_of(SharedStreams& shared, const std::string& name);

// Any thread, except open.
class SampleService {
 public:
  SampleService(SharedStreams& shared, const v1::Serve& settings)
      : shared_(shared), is_on_(!settings.listen().empty()), runs_(settings.memory()) {}

  // Reserves its memory if this daemon is a preparation server. Once, before the first stream.
  Status open(MemoryBudget& budget);
  // As Engine::prepare.
  Result<std::shared_ptr<SampleRun>> prepare(const SampleQuestion& question, SampleAnswer answer);
  void report(EngineStats& stats) const;

 private:
  Result<std::shared_ptr<StreamCore>> find(const std::string& name);

  SharedStreams& shared_;
  const bool is_on_;
  SampleRuns runs_;
  MemoryBudget::Reservation memory_;
};

}  // namespace echoline::engine
