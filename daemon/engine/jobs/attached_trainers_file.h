// The attached trainers, kept in a file of the runtime folder: after a crash or an upgrade the next
// daemon knows which trainers to expect back (semantics.md, Jobs and passes).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/api/job.h"

namespace echoline::engine {

struct Trainer {
  std::string stream;
  Job job;
  std::uint32_t rank = 0;
  pid_t pid = 0;                  // 0: of another container, where its end cannot be seen
  std::uint64_t begin_ticks = 0;  // of the process (base/process.h)
  bool operator==(const Trainer&) const = default;

  bool is_alive() const;
};

// Any thread. Writes to disk: not under a lock that the attaching of trainers needs.
class AttachedTrainersFile {
 public:
  // Reads what the previous daemon left in this folder. A file that cannot be read, or is longer
  // than any daemon's, is logged and names nobody. Without a folder nothing is kept.
  explicit AttachedTrainersFile(const std::string& folder);
  // Trainers whose process has ended by now are not left in the file.
  ~AttachedTrainersFile();

  // The trainers of the previous daemon that are still alive.
  std::vector<Trainer> left_behind(const std::string& stream) const;

  // `trainers` are all that these streams have, attached or expected back. Those of the previous
  // daemon stay in the file until their stream is open. Logs once if the file cannot be written.
  void keep(const std::set<std::string>& streams, std::vector<Trainer> trainers);

 private:
  // Replaces the file by the present lists, or removes it if they are empty.
  void write() ECHOLINE_REQUIRES(mutex_);

  std::string path_;
  mutable Mutex mutex_;  // guards the file, too
  std::vector<Trainer> before_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<Trainer> now_ ECHOLINE_GUARDED_BY(mutex_);
  bool failed_ ECHOLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace echoline::engine
