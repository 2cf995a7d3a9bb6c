#include "engine/stream/sample_service.h"

#include <utility>

namespace echoline::engine {

Result<std::shared_ptr<StreamCore>> core_of(SharedStreams& shared, const std::string& name) {
  const MutexLock lock(shared.mutex);
  ECHOLINE_ASSIGN(const Stream* stream, shared.table.find(name));
  return stream->core();
}

Status SampleService::open(MemoryBudget& budget) {
  if (!is_on_) return {};
  ECHOLINE_ASSIGN(memory_,
                  budget.reserve(runs_.bytes_max(), "samples for other hosts (daemon.serve)"));
  return {};
}

Result<std::shared_ptr<SampleRun>> SampleService::prepare(const SampleQuestion& question,
                                                          SampleAnswer answer) {
  Result<std::shared_ptr<StreamCore>> core = core_of(shared_, question.stream);
  if (core.ok()) return runs_.start(*core, question, std::move(answer));
  // The stream is being opened: the host asks another server, and this one later.
  const bool soon = core.status().code() == Code::kFailedPrecondition;
  return soon ? Status(Code::kUnavailable, core.status().message()) : core.status();
}

void SampleService::report(EngineStats& stats) const {
  if (!is_on_) return;
  stats.served_bytes_now = runs_.bytes();
  stats.served_bytes_max = runs_.bytes_max();
  stats.served_refused = runs_.refused();
}

}  // namespace echoline::engine
