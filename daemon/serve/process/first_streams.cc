#include "serve/process/first_streams.h"

#include <map>
#include <string>

#include "base/log.h"
#include "serve/process/progress_log.h"

namespace echoline::serve {

namespace {

// A stop ends the index pass of a stream. What it has scanned is kept.
record::ProgressFunction progress_of(const std::string& name, const StopSignal& stop) {
  return [&stop, log = log_progress(name)](const record::Progress& seen) mutable {
    return stop.requested() ? Status(Code::kCancelled, "the daemon stops") : log(seen);
  };
}

}  // namespace

Status create_first_streams(engine::Engine& engine, const v1::Config& config, KeptStreams& kept,
                            const StopSignal& stop) {
  const std::map<std::string, v1::Stream> streams(config.streams().begin(), config.streams().end());
  for (const auto& [name, stream] : streams) {
    // The rest is created at the next start.
    if (stop.requested()) return Status();
    const Status status = engine.create_stream(name, stream, progress_of(name, stop));
    // An error of a stream that was stopped is none of the configuration.
    if (stop.requested()) return Status();
    ECHOLINE_TRY(status);
  }
  // After the configuration, which wins where both have a name.
  for (const auto& [name, stream] : kept.load(config)) {
    if (stop.requested()) return Status();
    const Status status = engine.create_stream(name, stream, progress_of(name, stop));
    if (status.ok()) continue;
    if (stop.requested()) return Status();
    // A kept stream must not keep the daemon from starting: its data may be out of reach today.
    kept.set_failed(name, status);
    log_error("serve", "kept {}; it stays kept, and is tried again at the next start",
              status.message());
  }
  return Status();
}

}  // namespace echoline::serve
