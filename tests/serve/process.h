// Runs a program in a test, and receives its output and its notifications as a service manager
// does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace echoline::serve {

class Process {
 public:
  // `notify` is the path of a datagram socket to create for $NOTIFY_SOCKET; "" for none.
  Process(const std::vector<std::string>& arguments, const std::string& notify);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // The program's next message to its service manager; "" if none arrives in time, or if it ends.
  std::string notification(std::chrono::milliseconds patience);
  void signal(int number) const;
  // The exit status; 128 + N if signal N killed it; -1 if it still runs after `patience`.
  int wait(std::chrono::milliseconds patience);
  // All of its output; valid after wait().
  std::string output();

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd notify_;
};

}  // namespace echoline::serve
