// A program that the daemon runs for its output, without waiting for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "source/credentials/credential_provider.h"

namespace echoline::source {

// One thread. The program has a process group of its own, no descriptors of the daemon, an empty
// standard input, and no standard error: it could contain a secret, and a log must not.
class ChildProcess {
 public:
  // kPermissionDenied if it cannot be started.
  static Result<std::unique_ptr<ChildProcess>> start(const ProcessCall& call);
  // Kills the program and its children, if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Empty while the program runs, then what it wrote to its standard output. kUnavailable if it
  // fails, takes too long or writes too much. Call it until it returns a result.
  std::optional<Result<std::string>> poll();

 private:
  ChildProcess(pid_t pid, UniqueFd output, std::uint64_t timeout_ns);

  // Reads what is in the pipe now.
  void read_available();

  pid_t pid_;  // -1 once it has been waited for
  const UniqueFd output_;
  const std::uint64_t timeout_ns_;
  const std::uint64_t deadline_ns_;
  std::string text_;
  bool too_long_ = false;
};

}  // namespace echoline::source
