// Runs ring_server of this folder, or the program that ECHOLINE_RING_SERVER names, as a process in
// a temporary folder.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace echoline::test {

// The destructor kills the process and removes the folder.
class ServerProcess {
 public:
  // Arguments such as "batch=4". Returns when the server is ready.
  explicit ServerProcess(std::vector<std::string> arguments = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& dir() const { return dir_; }
  pid_t pid() const { return pid_; }
  void kill();  // sends SIGKILL and waits for the exit
  void start_again();

 private:
  std::string dir_;
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  int server_stdin_ = -1;  // the server exits when this pipe is closed
};

}  // namespace echoline::test
