// Verdicts on samples that lost two workers one after the other. Whether they would lose them again
// depends on time, so these verdicts are kept: other passes get the same rows, and so does a resume
// after a restart of the daemon.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <string>

#include "base/mutex.h"
#include "echoline/shm/sample_random.h"

namespace echoline::user_code {

// Any thread.
class KeptVerdicts {
 public:
  // Those in this file count from now on, and new ones are written to it. Logs a failure.
  void use_file(const std::string& path) ECHOLINE_EXCLUDES(mutex_);
  bool has(const UseKey& key) const ECHOLINE_EXCLUDES(mutex_);
  // Writes the file. When very many are kept already, this one is not.
  void add(const UseKey& key) ECHOLINE_EXCLUDES(mutex_);

 private:
  using Place = std::array<std::uint64_t, 3>;  // epoch, sample, use

  static Place place_of(const UseKey& key) { return {key.epoch, key.sample, key.use}; }
  static std::set<Place> load(const std::string& path);
  void save() const ECHOLINE_REQUIRES(mutex_);

  std::atomic<bool> is_empty_ = true;
  mutable Mutex mutex_;  // no other lock is taken under it
  std::string path_ ECHOLINE_GUARDED_BY(mutex_);
  std::set<Place> places_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::user_code
