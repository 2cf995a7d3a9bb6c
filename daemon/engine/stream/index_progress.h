// How far the index pass of a stream is that is being opened, and how long it still takes.
#pragma once

#include <cstdint>

#include "engine/api/stats.h"
#include "record/core/index.h"

namespace echoline::engine {

// Under the registry's lock. Times are monotonic_ns.
class IndexProgress {
 public:
  void note(const record::Progress& seen, std::uint64_t now_ns);
  IndexingStats stats(std::uint64_t now_ns) const;

 private:
  IndexingStats stats_;
  // The first report: what was known before the pass says nothing about its rate.
  std::uint64_t first_ns_ = 0;
  std::uint64_t first_bytes_ = 0;
  std::uint64_t user_code_ns_ = 0;  // since when it runs
};

}  // namespace echoline::engine
