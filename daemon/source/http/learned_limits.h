// How many long requests at the same time gave the best throughput at each endpoint, and that
// throughput. Kept in a file, so that the first epoch after a restart need not search, and short
// answers of a near store begin with few requests. The throughput also paces the first requests of
// a pass.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "source/http/learned_limit.h"

namespace echoline::source {

// Thread-safe. The file is a hint: if it cannot be read or written, searches begin as without it.
class LearnedLimits {
 public:
  static constexpr std::size_t kEndpointsMax = 64;  // then the one that was noted longest ago goes

  // Those of this process; in memory only until keep_in().
  static LearnedLimits& of_process();

  // Reads the file and writes it after each change.
  void keep_in(std::string path);

  LearnedLimit find(const std::string& endpoint) const;
  void note(const std::string& endpoint, const LearnedLimit& learned);

 private:
  struct Entry {
    std::string endpoint;
    LearnedLimit learned;
  };
  void read(std::string_view text) ECHOLINE_REQUIRES(mutex_);
  void insert(Entry entry) ECHOLINE_REQUIRES(mutex_);
  // One line per endpoint: its number, its address, its rate, with spaces between them.
  std::string text() const ECHOLINE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Mutex file_mutex_;  // taken before mutex_; held while the file is written
  std::string path_ ECHOLINE_GUARDED_BY(mutex_);
  std::deque<Entry> entries_ ECHOLINE_GUARDED_BY(mutex_);  // in the order of their last notes
};

}  // namespace echoline::source
