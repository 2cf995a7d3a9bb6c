// The requests of a client that are in flight, and the sleep of its thread until one of them ends.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/remote/remote_call.h"

namespace echoline::engine {

// Of the client's thread, except wake(). gRPC receives and decrypts on the thread that sleeps here.
// An interface, so that gRPC stays out of this header.
class CallQueue {
 public:
  // For requests about one stream.
  static std::unique_ptr<CallQueue> open(std::string stream, std::string fingerprint);
  // Cancels what is in flight.
  virtual ~CallQueue() = default;

  virtual void send(const std::shared_ptr<RunState>& state,
                    const std::shared_ptr<RemoteServer>& server) = 0;
  // A request that has ended; nothing after `wait`, or after wake().
  virtual std::optional<EndedCall> next(std::chrono::nanoseconds wait) = 0;
  // Any thread.
  virtual void wake() = 0;

  virtual std::size_t size() const = 0;
  virtual void for_each(const std::function<void(const RemoteCall&)>& visit) const = 0;
};

}  // namespace echoline::engine
