// The messages of the door: attach requests in, replies and notices out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "engine/api/attach.h"
#include "serve/door/connection_table.h"
#include "serve/door/door_connection.h"
#include "serve/door/door_outbox.h"
#include "serve/door/trainer_log.h"

namespace echoline::serve {

// The door's thread. Handler and table outlive it.
class DoorMessages {
 public:
  DoorMessages(engine::AttachHandler& handler, ConnectionTable& connections,
               std::shared_ptr<DoorOutbox> outbox)
      : handler_(handler), connections_(connections), outbox_(std::move(outbox)) {}

  // Reads one message of a connection that is readable, or closes it if the peer closed it.
  void read(std::uint64_t id);
  // Sends everything that is in the outbox.
  void deliver();

 private:
  // Checks a request and passes it to the handler.
  void handle_request(std::uint64_t id, Connection& connection, std::span<const std::byte> message);
  // Sends a grant or a refusal to its trainer.
  void deliver_reply(std::uint64_t id, const Reply& reply);
  // Sends a notice to an attached or waiting trainer; dropped if the trainer does not read.
  void deliver_notice(std::uint64_t id, const shm::Notice& notice);
  // Logs a second trainer for one rank of one job, and tells it: that is allowed, and mostly a
  // mistake.
  void warn_of_twin(std::uint64_t id, const Connection& connection);

  engine::AttachHandler& handler_;
  ConnectionTable& connections_;
  std::shared_ptr<DoorOutbox> outbox_;
  TrainerLog log_;
};

}  // namespace echoline::serve
