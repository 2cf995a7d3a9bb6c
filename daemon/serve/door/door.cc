#include "serve/door/door.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "serve/door/door_loop.h"

namespace echoline::serve {
namespace {

// An upper bound: the door's thread may hang.
constexpr std::uint64_t kFlushNs = 1'000'000'000;
constexpr std::chrono::milliseconds kFlushPoll{1};

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

// In this order: the address decides which daemon serves the path.
Result<std::unique_ptr<Door>> Door::open(const std::string& path, engine::AttachHandler& handler) {
  ECHOLINE_ASSIGN(DoorAddress address, DoorAddress::take(path));
  ECHOLINE_ASSIGN(std::shared_ptr<DoorOutbox> outbox, DoorOutbox::open());
  ECHOLINE_ASSIGN(std::unique_ptr<DoorLoop> loop,
                  DoorLoop::create(std::move(address), handler, outbox));
  // The outbox, not the door: a notice may come after the door has ended.
  handler.set_notify([outbox](std::uint64_t connection, shm::NoticeKind kind,
                              const Status& status) { outbox->notify(connection, kind, status); });
  return std::unique_ptr<Door>(new Door(std::move(loop), std::move(outbox)));
}

Door::Door(std::unique_ptr<DoorLoop> loop, std::shared_ptr<DoorOutbox> outbox)
    : loop_(std::move(loop)), outbox_(std::move(outbox)) {
  thread_ = start_thread("door", [this] { loop_->run(); });
}

Door::~Door() {
  // The thread delivers what is queued, closes its connections and ends.
  outbox_->stop();
  thread_.join();
}

std::size_t Door::connection_count() const { return loop_->connection_count(); }
std::uint64_t Door::rounds() const { return loop_->rounds(); }
void Door::leave_newcomers_waiting() { loop_->leave_newcomers_waiting(); }

void Door::flush() {
  // A round handles kEventsMax events, and epoll returns the ready descriptors in turn. One round
  // more, because the current one may have waited for its events before the call.
  const std::uint64_t done = rounds() + connection_count() / kEventsMax + 2;
  const std::uint64_t until_ns = monotonic_ns() + kFlushNs;
  while (rounds() < done && monotonic_ns() < until_ns) {
    outbox_->wake();
    std::this_thread::sleep_for(kFlushPoll);
  }
}

}  // namespace echoline::serve
