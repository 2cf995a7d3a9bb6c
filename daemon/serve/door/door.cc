#include "serve/door/door.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "serve/door/door_loop.h"

namespace echoline::serve {
namespace {

// Starts a thread with all signals blocked, so that the main thread gets them.
template <typename Body>
std::thread start_thread(const char* name, Body body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The new thread inherits the mask.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([name, body = std::move(body)] {
    pthread_setname_np(pthread_self(), name);
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Result<std::unique_ptr<Door>> Door::open(const std::string& path, engine::AttachHandler& handler) {
  ECHOLINE_ASSIGN(DoorAddress address, DoorAddress::take(path));
  ECHOLINE_ASSIGN(std::shared_ptr<DoorOutbox> outbox, DoorOutbox::open());
  ECHOLINE_ASSIGN(std::unique_ptr<DoorLoop> loop,
                  DoorLoop::create(std::move(address), handler, outbox));
  handler.set_notify([outbox](std::uint64_t connection, shm::NoticeKind kind,
                              const Status& status) { outbox->notify(connection, kind, status); });
  return std::unique_ptr<Door>(new Door(std::move(loop), std::move(outbox)));
}

Door::Door(std::unique_ptr<DoorLoop> loop, std::shared_ptr<DoorOutbox> outbox)
    : loop_(std::move(loop)), outbox_(std::move(outbox)) {
  thread_ = start_thread("door", [this] { loop_->run(); });
}

Door::~Door() {
  outbox_->stop();
  thread_.join();
}

std::size_t Door::connection_count() const { return loop_->connection_count(); }
std::uint64_t Door::rounds() const { return loop_->rounds(); }
void Door::leave_newcomers_waiting() { loop_->leave_newcomers_waiting(); }

}  // namespace echoline::serve
