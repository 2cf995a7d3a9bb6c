#include "serve/door/door_outbox.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "serve/door/door_codec.h"

namespace echoline::serve {
namespace {

// Far more than trainers: a notice is lost only if the door's thread hangs.
constexpr std::size_t kQueuedMax = 16384;

Result<UniqueFd> duplicate(int fd) {
  // A duplicate, because the engine may close the original before the door sends it.
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return errno_status(errno, "duplicating a ring's descriptor for a trainer");
  return copy;
}

Result<Grant> grant_of(const Result<engine::Attachment>& attachment) {
  // A refusal has no descriptors.
  ECHOLINE_TRY(attachment.status());
  Grant grant;
  grant.reply = attachment.value().reply;
  ECHOLINE_ASSIGN(grant.data, duplicate(attachment.value().data_fd));
  ECHOLINE_ASSIGN(grant.cursor, duplicate(attachment.value().cursor_fd));
  return grant;
}

}  // namespace

Result<std::shared_ptr<DoorOutbox>> DoorOutbox::open() {
  auto outbox = std::make_shared<DoorOutbox>();
  outbox->event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!outbox->event_) return errno_status(errno, "creating an eventfd");
  return outbox;
}

void DoorOutbox::reply(std::uint64_t connection, const Result<engine::Attachment>& attachment) {
  // `granted` is noted apart: duplicating can fail after the engine has granted.
  push({connection, Reply{grant_of(attachment), attachment.ok()}});
}

void DoorOutbox::notify(std::uint64_t connection, shm::NoticeKind kind, const Status& status) {
  push({connection, make_notice(kind, status)});
}

void DoorOutbox::push(Outgoing outgoing) {
  {
    const MutexLock lock(mutex_);
    // A reply is never dropped while the door is open: its trainer waits for it.
    const bool full = queue_.size() >= kQueuedMax;
    if (closed_ || (full && std::holds_alternative<shm::Notice>(outgoing.message))) return;
    queue_.push_back(std::move(outgoing));
  }
  // Without the lock, so that the door's thread does not wait for it.
  wake();
}

void DoorOutbox::wake() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then the thread is about to wake anyway.
  [[maybe_unused]] const ssize_t written = write(event_.get(), &one, sizeof one);
}

void DoorOutbox::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake();
}

bool DoorOutbox::stopping() const {
  const MutexLock lock(mutex_);
  return stopping_;
}

std::vector<Outgoing> DoorOutbox::take() {
  // Resets the eventfd before the queue is taken: a message pushed in between wakes the thread
  // once more, and none is missed.
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read_bytes = read(event_.get(), &count, sizeof count);
  const MutexLock lock(mutex_);
  return std::exchange(queue_, {});
}

void DoorOutbox::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  // Closes the descriptors of grants that nobody takes any more.
  queue_.clear();
}

}  // namespace echoline::serve
