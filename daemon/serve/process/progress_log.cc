// The first line also comes after a pause, so a short build logs nothing.
#include "serve/process/progress_log.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pluralize.h"

namespace echoline::serve {
namespace {

constexpr std::uint64_t kPauseNs = 2'000'000'000;

}  // namespace

record::ProgressFunction log_progress(const std::string& stream) {
  return [stream, last_ns = monotonic_ns()](const record::Progress& progress) mutable {
    const std::uint64_t now_ns = monotonic_ns();
    // Called for each shard; most calls log nothing.
    if (now_ns - last_ns < kPauseNs) return Status();
    last_ns = now_ns;
    // Called in another wait, only to ask whether to stop.
    if (progress.shards == 0) return Status();
    log_info({"serve", stream}, "indexing, {} of {}, {}, {} of {} MB", progress.shards_done,
             pluralize(progress.shards, "shard"), pluralize(progress.records, "record"),
             progress.bytes_done / 1'000'000, progress.bytes / 1'000'000);
    return Status();
  };
}

}  // namespace echoline::serve
