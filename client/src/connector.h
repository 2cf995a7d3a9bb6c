// Getting attached, the first time and after the daemon was away: knock, await the answer, map.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "attachment.h"
#include "door_client.h"

namespace echoline::client {

struct Connection {
  std::shared_ptr<Attachment> attachment;
  std::shared_ptr<DoorClient> door;
};

// A state machine that never blocks but in wait(). One thread at a time, but for wait().
class Connector {
 public:
  explicit Connector(std::string runtime_dir) : runtime_dir_(std::move(runtime_dir)) {}

  const std::string& runtime_dir() const { return runtime_dir_; }
  bool running() const { return running_; }
  // `persistent`: a daemon that isn't there or not ready is knocked for again until the deadline.
  void start(AttachWish wish, std::uint64_t deadline_ns, bool persistent);
  void stop() { door_.reset(); }
  // TIMEOUT: not yet, call again; else it is over: OK with `connection` filled, or the error.
  Error pump(std::uint64_t now_ns, Connection& connection);
  // The door that is waited for, if any; to sleep on without the lock.
  std::shared_ptr<DoorClient> door() const { return door_; }

 private:
  Error late() const;
  bool may_pass(const Error& error) const;
  Error knock(std::uint64_t now_ns);
  Error retry(const Error& error, std::uint64_t now_ns);

  std::string runtime_dir_;
  AttachWish wish_;
  std::shared_ptr<DoorClient> door_;  // knocked at, not answered yet
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t busy_until_ns_ = 0;  // what is so for a moment is asked for again until then
  bool persistent_ = false;
  bool running_ = false;
  Error last_refusal_;
};

}  // namespace echoline::client
