#include "engine/stream/index_progress.h"

namespace echoline::engine {

void IndexProgress::note(const record::Progress& seen, std::uint64_t now_ns) {
  if (seen.user_code != stats_.user_code) {
    stats_.user_code = seen.user_code;
    user_code_ns_ = now_ns;
  }
  // The report before the first shard is known.
  if (seen.shards == 0) return;
  if (first_ns_ == 0) {
    first_ns_ = now_ns;
    first_bytes_ = seen.bytes_done;
  }
  stats_.shards_done = seen.shards_done;
  stats_.shards = seen.shards;
  stats_.bytes_done = seen.bytes_done;
  stats_.bytes = seen.bytes;
  stats_.records = seen.records;
  const double seconds = static_cast<double>(now_ns - first_ns_) / 1e9;
  const std::uint64_t scanned = seen.bytes_done - first_bytes_;
  // A rate needs time and bytes; until then it is unknown (0).
  if (seconds <= 0 || scanned == 0) return;
  stats_.bytes_per_second = static_cast<double>(scanned) / seconds;
  stats_.seconds_left = static_cast<double>(seen.bytes - seen.bytes_done) / stats_.bytes_per_second;
}

IndexingStats IndexProgress::stats(std::uint64_t now_ns) const {
  IndexingStats stats = stats_;
  if (!stats.user_code.empty())
    stats.user_code_seconds = static_cast<double>(now_ns - user_code_ns_) / 1e9;
  return stats;
}

}  // namespace echoline::engine
