// The requests of a client that are in flight, and the sleep of its thread until one of them ends.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/remote/remote_call.h"

namespace echoline::engine {

// Of the client's thread, except wake(). gRPC receives and decrypts on the thread that sleeps here.
class CallQueue {
 public:
  CallQueue(std::string stream, std::string fingerprint)
      : stream_(std::move(stream)), fingerprint_(std::move(fingerprint)) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  // Cancels what is in flight.
  ~CallQueue();

  void send(const std::shared_ptr<RunState>& state, const std::shared_ptr<RemoteServer>& server);
  // A request that has ended; null after `wait`, or after wake().
  std::unique_ptr<RemoteCall> next(std::chrono::nanoseconds wait);
  // Any thread.
  void wake();

  std::size_t size() const { return calls_.size(); }
  void for_each(const std::function<void(const RemoteCall&)>& visit) const {
    for (const auto& [call, owned] : calls_) visit(*owned);
  }

 private:
  const std::string stream_;
  const std::string fingerprint_;
  grpc::CompletionQueue queue_;
  grpc::Alarm alarm_;
  std::atomic<bool> woken_{false};
  std::unordered_map<RemoteCall*, std::unique_ptr<RemoteCall>> calls_;
};

}  // namespace echoline::engine
