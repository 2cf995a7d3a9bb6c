// The process in which one or more workers run users' code: its end, and what it writes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/spawn.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "user_code/function.h"

namespace echoline::user_code {

// Any thread.
class Process {
 public:
  // Starts it, and does not wait for it. `channels`: the other ends of its workers' descriptors;
  // `settings`: what it reads first.
  static Result<std::shared_ptr<Process>> start(const Function& function,
                                                std::vector<SpawnedFile> channels,
                                                const std::string& settings);
  // Kills it and its children.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Readable when it has ended, and when it has written something.
  int end_file() const { return end_.get(); }
  int text_file() const { return text_.get(); }
  // False: it has ended, or ends within `wait_ms`.
  bool is_alive(int wait_ms = 0) const;

  // Ends it because of one of its workers; the others see its end.
  void kill() ECHOLINE_EXCLUDES(mutex_);
  // Of a process that has ended or closed a connection: how, in words.
  std::string describe_end() ECHOLINE_EXCLUDES(mutex_);

  // Reads a part of what it has written; false if there is nothing.
  bool read_text() ECHOLINE_EXCLUDES(mutex_);
  // What was read since the last call; the end of a long text.
  std::string take_written() ECHOLINE_EXCLUDES(mutex_);

 private:
  Process(pid_t pid, UniqueFd text, UniqueFd life);

  const UniqueFd text_, life_, end_;
  Mutex mutex_;                            // no other lock is taken under it
  pid_t pid_ ECHOLINE_GUARDED_BY(mutex_);  // -1 once it has been waited for
  bool is_killed_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::string how_ ECHOLINE_GUARDED_BY(mutex_);  // it ended
  std::string written_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::user_code
