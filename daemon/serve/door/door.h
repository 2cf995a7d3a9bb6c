// The door: a Unix socket through which trainers attach to streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/status.h"
#include "engine/api/attach.h"

namespace echoline::serve {

class DoorLoop;
class DoorOutbox;

// Owns the socket and one thread, which runs a DoorLoop. It refuses connections that send no
// request in time, limits their number, and withdraws a trainer from the engine as soon as its
// connection closes. One thread opens and destroys it; the other functions may be called by any.
class Door {
 public:
  // Takes over the socket of a dead daemon; kAlreadyExists if a live daemon serves `path`. The
  // handler outlives the door.
  static Result<std::unique_ptr<Door>> open(const std::string& path,
                                            engine::AttachHandler& handler);
  // Delivers the notices that are queued, closes all connections, and joins the thread.
  ~Door();
  Door(Door&&) = delete;

  // Connections now, for the metrics.
  std::size_t connection_count() const;
  // Grows several times a second while the thread lives.
  std::uint64_t rounds() const;
  // Called before the engine drains. A socket that outlives this daemon (door_inherited.h) keeps
  // new connections in its queue for the next daemon; at the daemon's own socket they are still
  // accepted, and the engine refuses them.
  void leave_newcomers_waiting();
  // Returns when the trainers whose connections closed before this call are withdrawn from the
  // engine, after 1 s at most. So a drain that follows does not mistake them for attached ones.
  void flush();

 private:
  Door(std::unique_ptr<DoorLoop> loop, std::shared_ptr<DoorOutbox> outbox);

  std::unique_ptr<DoorLoop> loop_;
  std::shared_ptr<DoorOutbox> outbox_;
  std::thread thread_;
};

}  // namespace echoline::serve
