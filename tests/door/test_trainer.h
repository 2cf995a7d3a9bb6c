// Both sides of a door under test: an engine that records its calls, and a trainer that connects.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "echoline/shm/door.h"
#include "engine/api/attach.h"

namespace echoline::serve {

inline constexpr std::uint64_t kLongNs = 10'000'000'000;

// A folder for sockets; the destructor removes it with its content.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  std::string path(const std::string& name = "door.sock") const { return folder_ + "/" + name; }
  std::vector<std::string> names() const;

 private:
  std::string folder_;
};

// Records requests and withdrawals; grants two descriptors (/dev/null, /dev/zero), or calls
// `on_attach`. Any thread.
class RecordingEngine : public engine::AttachHandler {
 public:
  void attach(std::uint64_t connection, const shm::AttachRequest& request, const engine::Peer& peer,
              engine::ReplyFunction reply) override;
  void withdraw(std::uint64_t connection) override;
  void set_notify(engine::NotifyFunction notify) override { notify_ = std::move(notify); }

  // Called instead of granting.
  std::function<void(std::uint64_t, engine::ReplyFunction)> on_attach;
  engine::NotifyFunction notify_;

  struct Asked {
    std::uint64_t connection;
    shm::AttachRequest request;
    engine::Peer peer;
  };
  std::vector<Asked> asked() const;
  std::vector<std::uint64_t> withdrawn() const;
  bool wait_asked(std::size_t count);
  bool wait_withdrawn(std::size_t count, std::uint64_t timeout_ns = kLongNs);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Asked> asked_;
  std::vector<std::uint64_t> withdrawn_;
};

shm::AttachRequest good_request(const std::string& stream = "photos");

// A trainer's end of a connection. Its calls block, with a timeout.
class TestTrainer {
 public:
  explicit TestTrainer(const std::string& path);
  bool connected() const { return connected_; }
  bool send(const void* bytes, std::size_t count) const;
  bool send(const shm::AttachRequest& request) const { return send(&request, sizeof request); }
  bool send_with_descriptors(const shm::AttachRequest& request, int count) const;

  struct Received {
    std::vector<std::byte> bytes;  // empty: the door closed
    std::vector<UniqueFd> descriptors;
    template <typename T>
    T as() const {
      T value{};
      if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
      return value;
    }
    bool closed() const { return bytes.empty(); }
  };
  Received receive(int timeout_ms = 10000) const;
  void disconnect() { socket_.reset(); }
  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  bool connected_ = false;
};

}  // namespace echoline::serve
