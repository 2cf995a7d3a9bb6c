// Output goes to memory files, so a long one does not block the program.
#include "cli/command_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "base/unique_fd.h"

namespace echoline::cli {
namespace {

std::string content(int fd) {
  std::string text(1 << 22, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

std::vector<std::string> CommandResult::lines() const {
  std::istringstream text(out);
  std::vector<std::string> all;
  for (std::string line; std::getline(text, line);) all.push_back(line);
  return all;
}

CommandResult run_command(const std::vector<std::string>& arguments) {
  const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
  const UniqueFd err(::memfd_create("err", MFD_CLOEXEC));
  std::vector<char*> argv = {const_cast<char*>(ECHOLINE_COMMAND)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(err.get(), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out.get()),
          content(err.get())};
}

}  // namespace echoline::cli
