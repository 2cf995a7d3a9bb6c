#include "serve/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace echoline::serve {
namespace {

UniqueFd bind_datagrams(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& notify)
    : output_(::memfd_create("output", MFD_CLOEXEC)) {
  if (!notify.empty()) notify_ = bind_datagrams(notify);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::dup2(output_.get(), STDOUT_FILENO);
  ::dup2(output_.get(), STDERR_FILENO);
  if (!notify.empty()) ::setenv("NOTIFY_SOCKET", notify.c_str(), 1);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

Process::~Process() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Process::notification(std::chrono::milliseconds patience) {
  pollfd one = {.fd = notify_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&one, 1, static_cast<int>(patience.count())) != 1) return "";
  char buffer[256];
  const ssize_t bytes = ::recv(notify_.get(), buffer, sizeof buffer, 0);
  return bytes < 0 ? "" : std::string(buffer, static_cast<std::size_t>(bytes));
}

void Process::signal(int number) const { ::kill(pid_, number); }

int Process::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return -1;
}

std::string Process::output() {
  std::string text(1 << 20, '\0');
  const ssize_t bytes = ::pread(output_.get(), text.data(), text.size(), 0);
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace echoline::serve
