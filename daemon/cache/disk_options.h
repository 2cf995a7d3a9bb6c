// The settings and the failure counters of a disk cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "cache/record_key.h"

namespace echoline::cache {

struct DiskOptions {
  std::string path;
  std::uint64_t cap_bytes = 0;
  std::string set;                      // names the data set; 32 hex digits
  std::uint64_t wanted_bytes = 0;       // the size of everything that this stream would keep
  std::uint64_t pending_bytes_max = 0;  // of values that are queued for writing
  // Whether the cache should still keep the record at this location. Only called if the cap is too
  // small for everything.
  std::function<bool(const Hash128& location)> is_wanted{};
};

struct DiskFailures {
  std::atomic<std::uint64_t> corrupt{0};  // values that differed from what was written
  std::atomic<std::uint64_t> full{0};     // values not kept: cap reached, or disk full
  std::atomic<std::uint64_t> dropped{0};  // values not kept: they came faster than the disk writes
  std::atomic<std::uint64_t> error{0};    // reads and writes that failed
};

}  // namespace echoline::cache
