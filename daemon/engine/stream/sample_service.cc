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

Result<std::shared_ptr<StreamCore>> SampleService::find(const std::string& name) {
  const MutexLock lock(shared_.mutex);
  const Result<Stream*> stream = shared_.table.find(name);
  if (!stream.ok()) {
    // The stream is being opened: the host asks another server, and this one later.
    const bool soon = stream.status().code() == Code::kFailedPrecondition;
    return soon ? Status(Code::kUnavailable, stream.status().message()) : stream.status();
  }
  // Its fetcher brings no bytes any more.
  const Status& failure = (*stream)->failure();
  if (!failure.ok()) return Status(Code::kFailedPrecondition, failure.message());
  return (*stream)->core();
}

Result<std::shared_ptr<SampleRun>> SampleService::prepare(const SampleQuestion& question,
                                                          SampleAnswer answer) {
  ECHOLINE_ASSIGN(const std::shared_ptr<StreamCore> core, find(question.stream));
  return runs_.start(core, question, std::move(answer));
}

void SampleService::report(EngineStats& stats) const {
  if (!is_on_) return;
  stats.served_bytes_now = runs_.bytes();
  stats.served_bytes_max = runs_.bytes_max();
  stats.served_refused = runs_.refused();
}

}  // namespace echoline::engine
