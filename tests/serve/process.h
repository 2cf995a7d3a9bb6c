// A program run by a test, with its output and its readiness as a service manager sees it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace echoline::serve {

class Process {
 public:
  // `notify` is the path of a datagram socket that is made for $NOTIFY_SOCKET; "" for none.
  Process(const std::vector<std::string>& arguments, const std::string& notify);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // The next message of the program to its service manager; "" when none comes in time or it ends.
  std::string notification(std::chrono::milliseconds patience);
  void signal(int number) const;
  // Its exit status, 128 + N when killed by signal N, -1 when it still runs after `patience`.
  int wait(std::chrono::milliseconds patience);
  // Everything it wrote; after wait().
  std::string output();

 private:
  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd notify_;
};

}  // namespace echoline::serve
