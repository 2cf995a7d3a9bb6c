// A server of tests/servers as a process; the destructor ends it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace echoline {

class ServerProcess {
 public:
  // Starts tests/servers/`script` and waits for the line that says it is ready.
  explicit ServerProcess(const std::string& script, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(),
                     std::string(ECHOLINE_SOURCE_DIR "/tests/servers/") + script);
    arguments.insert(arguments.begin(), "python3");
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
    char line[4096];
    if (std::fgets(line, sizeof line, output_) != nullptr) {
      facts_ = line;
    } else {
      int status = 0;
      ::waitpid(std::exchange(pid_, -1), &status, 0);
      missing_ = WIFEXITED(status) && WEXITSTATUS(status) == 77;
    }
  }

  ~ServerProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
    if (output_ != nullptr) std::fclose(output_);
  }

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Whether it has started; if not, missing() says that its program isn't installed.
  bool ready() const { return !facts_.empty(); }
  bool missing() const { return missing_; }

  // A value of the line, text or number; empty if there is none.
  std::string fact(const std::string& name) const {
    const std::string key = "\"" + name + "\": ";
    std::size_t at = facts_.find(key);
    if (at == std::string::npos) return "";
    at += key.size();
    if (facts_[at] == '"') ++at;
    return facts_.substr(at, facts_.find_first_of("\",}", at) - at);
  }

 private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
  std::string facts_;
  bool missing_ = false;
};

}  // namespace echoline
