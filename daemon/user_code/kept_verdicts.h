// Verdicts on samples that lost two workers one after the other. Whether they would lose them again
// depends on time, so these verdicts are kept: other passes get the same rows, and so does a resume
// after a restart of the daemon.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "base/mutex.h"
#include "echoline/shm/sample_random.h"

namespace echoline::user_code {

// Any thread.
class KeptVerdicts {
 public:
  // Verdicts are kept from now on: those in this file, and new ones, which are written to it. An
  // empty path: in memory only. Before it, while a stream is opened or checked, none is kept: the
  // samples that are tried then have no place in the order. Logs a failure.
  void start(const std::string& path) ECHOLINE_EXCLUDES(mutex_);
  bool has(const UseKey& key) const ECHOLINE_EXCLUDES(mutex_);
  // Writes the file. When very many are kept already, this one is not.
  void add(const UseKey& key) ECHOLINE_EXCLUDES(mutex_);
  std::size_t count() const { return count_; }

 private:
  using Place = std::array<std::uint64_t, 3>;  // epoch, sample, use

  static Place place_of(const UseKey& key) { return {key.epoch, key.sample, key.use}; }
  static std::set<Place> load(const std::string& path);
  void save() const ECHOLINE_REQUIRES(mutex_);

  std::atomic<std::size_t> count_ = 0;
  mutable Mutex mutex_;  // no other lock is taken under it
  bool is_started_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::string path_ ECHOLINE_GUARDED_BY(mutex_);
  std::set<Place> places_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::user_code
