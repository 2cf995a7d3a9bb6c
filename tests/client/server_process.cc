#include "client/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace echoline::test {

ServerProcess::ServerProcess(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)) {
  char dir[] = "/tmp/echoline-test-XXXXXX";
  if (mkdtemp(dir) == nullptr) throw std::runtime_error("mkdtemp");
  dir_ = dir;
  start_again();
}

ServerProcess::~ServerProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

void ServerProcess::start_again() {
  int out[2];
  int in[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(in, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const char* other = std::getenv("ECHOLINE_RING_SERVER");
  std::vector<std::string> words = {other != nullptr ? other : ECHOLINE_RING_SERVER, "dir=" + dir_};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(in[0]);
  server_stdin_ = in[1];
  char byte = 0;
  const bool ready = read(out[0], &byte, 1) == 1;
  close(out[0]);
  if (!ready) throw std::runtime_error("ring_server did not start");
}

void ServerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  close(server_stdin_);
}

}  // namespace echoline::test
