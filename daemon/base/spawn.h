// Starts other programs, always by exec: a fork alone would copy the daemon's threads and locks.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"

namespace echoline {

// A descriptor of the daemon, and its number in the program.
struct SpawnedFile {
  int from = -1;
  int to = -1;
};

struct Program {
  std::vector<std::string> words;        // the program first; looked up in PATH, no shell
  std::vector<std::string> environment;  // lines NAME=value
  // The program has no other descriptors, except that 0, 1 and 2 are /dev/null if they are missing.
  std::vector<SpawnedFile> files;
};

// The program gets a process group of its own, no blocked signals, and default signal actions. The
// caller waits for it (waitpid). kPermissionDenied if it cannot be started.
Result<pid_t> spawn(const Program& program);

// Sends SIGKILL to the program and to its children that stayed in its group, and waits for the
// program, at most 200 ms: one that hangs in the kernel is left to init.
void kill_and_wait(pid_t pid);

// "was ended by signal 11" or "ended with exit code 1", from the status of waitpid.
std::string describe_end(int wait_status);

}  // namespace echoline
