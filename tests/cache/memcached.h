// Real memcached servers, started by a test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace echoline::cache {

inline sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

inline std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = local_address(0);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// One server; the destructor ends it.
class Memcached {
 public:
  explicit Memcached(int megabytes = 64) : megabytes_(megabytes) { start(); }
  Memcached(const Memcached&) = delete;
  Memcached& operator=(const Memcached&) = delete;
  ~Memcached() { kill(); }

  static bool installed() { return ::access("/usr/bin/memcached", X_OK) == 0; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Starts again on the same port.
  void start() {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string port = std::to_string(port_);
      const std::string memory = std::to_string(megabytes_);
      ::execl("/usr/bin/memcached", "memcached", "-l", "127.0.0.1", "-p", port.c_str(), "-U", "0",
              "-m", memory.c_str(), "-M", "-u", "nobody", nullptr);
      ::_exit(127);
    }
    for (int tries = 0; tries < 500 && !answers(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void kill() { end(SIGKILL); }
  // Returns when the process has stopped.
  void stop_answering() {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() { ::kill(pid_, SIGCONT); }

 private:
  bool answers() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = local_address(port_);
    const bool connected =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
  }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  const int megabytes_;
  const std::uint16_t port_ = free_port();
  pid_t pid_ = -1;
};

}  // namespace echoline::cache
