// A daemon for one command, without other users.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "echoline/v1/config.pb.h"

namespace echoline::cli {

// Its folder and it are gone when the destructor returns, and soon after this process ends in any
// other way: a helper process waits for that. One thread.
class PrivateDaemon {
 public:
  // A daemon without streams, with the memory and the workers of `settings`, and with the indexes
  // of its state folder. Metrics and network addresses are off. Call it before this process has
  // threads.
  static Result<PrivateDaemon> start(const v1::Daemon& settings);
  PrivateDaemon(PrivateDaemon&& other) noexcept;
  PrivateDaemon& operator=(PrivateDaemon&&) = delete;
  ~PrivateDaemon();

  const std::string& runtime_dir() const { return folder_; }
  // Waits until its control service answers. kUnavailable, with the end of its log, if it has ended
  // or is not there after `patience`.
  Status await_answer(std::chrono::milliseconds patience) const;
  // Whether it has ended by itself.
  bool has_ended() const;

 private:
  PrivateDaemon(std::string folder, pid_t helper, UniqueFd lifeline, UniqueFd ended)
      : folder_(std::move(folder)),
        helper_(helper),
        lifeline_(std::move(lifeline)),
        ended_(std::move(ended)) {}
  std::string last_words() const;

  std::string folder_;
  pid_t helper_ = -1;
  UniqueFd lifeline_;  // the helper cleans up when it is closed
  UniqueFd ended_;     // its other end is closed when the daemon has ended
};

}  // namespace echoline::cli
