// The ranged reads that the store has not answered yet, for reports about long waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace echoline::engine {

struct ReadInFlight {
  std::uint64_t begin_ns = 0;  // when it was handed to the source
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;  // of the first record
  std::uint64_t bytes = 0;   // to the end of the last one
  std::uint64_t records = 0;
  std::uint64_t first_record = 0;
  std::uint64_t last_record = 0;  // at the highest offset
};

// The fetcher's thread writes, any thread reads. As many entries as the source has slots.
class ReadsInFlight {
 public:
  // `number` grows from read to read.
  void add(std::uint64_t number, const ReadInFlight& read) ECHOLINE_EXCLUDES(mutex_);
  ReadInFlight remove(std::uint64_t number) ECHOLINE_EXCLUDES(mutex_);
  // The store pauses after this error until then (monotonic_ns).
  void set_pause(std::string error, std::uint64_t until_ns) ECHOLINE_EXCLUDES(mutex_);

  struct View {
    std::vector<ReadInFlight> oldest;  // oldest first
    std::size_t count = 0;             // of all
    std::string pause_error;           // empty: the store does not pause
  };
  View view(std::size_t oldest_max, std::uint64_t now_ns) const ECHOLINE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;  // no other lock is taken under it
  std::map<std::uint64_t, ReadInFlight> reads_ ECHOLINE_GUARDED_BY(mutex_);
  std::string pause_error_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t pause_until_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace echoline::engine
