// The event loop of the door: accepts connections, reads requests, delivers replies and notices,
// and detects trainers that have died.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "engine/api/attach.h"
#include "serve/door/connection_table.h"
#include "serve/door/door_address.h"
#include "serve/door/door_messages.h"
#include "serve/door/door_outbox.h"
#include "serve/door/epoll_set.h"
#include "serve/door/trainer_acceptor.h"

namespace echoline::serve {

// The door's thread calls run(), or a test do_work() step by step; the const functions and
// leave_newcomers_waiting() may be called by any thread. The handler outlives it.
class DoorLoop {
 public:
  static Result<std::unique_ptr<DoorLoop>> create(DoorAddress address,
                                                  engine::AttachHandler& handler,
                                                  std::shared_ptr<DoorOutbox> outbox);
  // Until outbox.stop(); then delivers what is queued and closes every connection.
  void run();
  // One round: waits for an event up to the timeout, handles all that are ready, and refuses
  // connections whose deadline is over.
  void do_work(int timeout_ms);

  std::size_t connection_count() const { return connections_.count(); }
  std::uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }
  void leave_newcomers_waiting() { acceptor_.leave_newcomers_waiting(); }

 private:
  DoorLoop(DoorAddress address, EpollSet epoll, engine::AttachHandler& handler,
           std::shared_ptr<DoorOutbox> outbox);
  // Milliseconds until the next deadline; bounded, so that rounds() shows a live thread.
  int timeout_ms(std::uint64_t now_ns) const;
  // Handles one ready descriptor.
  void handle(std::uint64_t key, std::uint64_t now_ns);

  DoorAddress address_;
  EpollSet epoll_;
  std::shared_ptr<DoorOutbox> outbox_;
  ConnectionTable connections_;
  DoorMessages messages_;
  TrainerAcceptor acceptor_;
  std::atomic<std::uint64_t> rounds_{0};
};

}  // namespace echoline::serve
