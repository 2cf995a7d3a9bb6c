// The door: a Unix socket through which trainers attach. One thread of its own; it ends half
// handshakes by deadline, bounds its connections, and learns of a trainer's death from its socket
// at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "engine/api/attach.h"

namespace echoline::serve {

// Opened and destroyed by one thread.
class Door {
 public:
  // Takes over the socket of a dead daemon; that of a living one is kAlreadyExists.
  static Result<std::unique_ptr<Door>> open(const std::string& path,
                                            engine::AttachHandler& handler);
  virtual ~Door() = default;
  // Connections now, for the metrics.
  virtual std::size_t connection_count() const = 0;
  // Grows several times a second while the thread lives.
  virtual std::uint64_t rounds() const = 0;
  // Before the engine is drained: at a socket that outlives this daemon newcomers are left waiting
  // for the next one; at its own they are still heard, and refused by the engine.
  virtual void leave_newcomers_waiting() = 0;
};

}  // namespace echoline::serve
