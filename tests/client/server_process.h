// The ring_server of this folder, or what ECHOLINE_RING_SERVER of the environment names, as a
// process in a folder of its own, to be killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace echoline::test {

// Killed and cleaned up at its end.
class ServerProcess {
 public:
  // Arguments as "batch=4"; ready when this returns.
  explicit ServerProcess(std::vector<std::string> arguments = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& dir() const { return dir_; }
  pid_t pid() const { return pid_; }
  void kill();  // SIGKILL, and waits for its end
  void start_again();

 private:
  std::string dir_;
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  int leash_ = -1;  // the server's stdin: it ends when nobody holds it any more
};

}  // namespace echoline::test
