// Who is attached, kept in a file beside the door: after a crash or an upgrade the next daemon
// knows whom to expect back, and whom not (semantics.md, Jobs and passes).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/api/job.h"

namespace echoline::engine {

struct Trainer {
  std::string stream;
  Job job;
  std::uint32_t rank = 0;
  pid_t pid = 0;                  // 0: of another container, its life cannot be seen from here
  std::uint64_t begin_ticks = 0;  // of the process (base/process.h)
  bool operator==(const Trainer&) const = default;

  bool is_alive() const;
};

// One thread at a time.
class AttachedTrainersFile {
 public:
  // Reads what the daemon before left in this folder; a file that cannot be read, or is longer than
  // any daemon's, is said in the log and names nobody. No folder: nothing is kept.
  explicit AttachedTrainersFile(const std::string& folder);
  // Those that went with the daemon's end are not left in the file.
  ~AttachedTrainersFile();

  // Those of the daemon before that still live.
  std::vector<Trainer> left_behind(const std::string& stream) const;

  // All that these streams say are attached or expected back now; those of the daemon before stay
  // in the file as long as their stream is not there. A file that cannot be written is said once.
  void keep(const std::set<std::string>& streams, std::vector<Trainer> trainers);

 private:
  void write();

  std::string path_;
  std::vector<Trainer> before_;
  std::vector<Trainer> now_;
  bool failed_ = false;
};

}  // namespace echoline::engine
