// A memcached server whose answer to a "get" never ends, as a broken or hostile server may send it.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cache/memcached.h"

namespace echoline::cache {

// Answers each request with `first` ("KEY" becomes the requested key), then sends `rest` every
// `pause` until the client closes the connection.
class EndlessMemcached {
 public:
  struct Answer {
    std::string name;  // of the test case
    std::string first;
    std::string rest;
    std::chrono::milliseconds pause;
  };
  explicit EndlessMemcached(Answer answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = local_address(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(listener_, 16);
    accepts_ = std::thread([this] { accept_all(); });
  }
  EndlessMemcached(const EndlessMemcached&) = delete;
  EndlessMemcached& operator=(const EndlessMemcached&) = delete;
  ~EndlessMemcached() {
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepts_.join();  // first: this thread adds to threads_
    for (std::thread& serves : threads_) serves.join();
    ::close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void accept_all() {
    while (!ending_) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd >= 0) threads_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    std::string request(4096, ' ');
    const ssize_t count = ::recv(fd, request.data(), request.size(), 0);
    if (count > 4) {
      const std::string key = request.substr(4, request.find_first_of(" \r", 4) - 4);
      std::string first = answer_.first;
      if (const auto at = first.find("KEY"); at != std::string::npos) first.replace(at, 3, key);
      bool sent = send_all(fd, first);
      while (sent && !ending_) {
        sent = send_all(fd, answer_.rest);
        if (answer_.pause.count() > 0) std::this_thread::sleep_for(answer_.pause);
      }
    }
    ::close(fd);
  }
  static bool send_all(int fd, const std::string& text) {
    timeval patience{.tv_sec = 1, .tv_usec = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) >= 0;
  }

  const Answer answer_;
  std::atomic<bool> ending_{false};
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread accepts_;
  std::vector<std::thread> threads_;  // one per connection
};

}  // namespace echoline::cache
