#include "loader/trainer_wait.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

// The longest sleep: how late the death of the daemon is noticed.
constexpr std::uint64_t kSleepMaxNs = 50'000'000;

}  // namespace

void UnattachedWaits::begin(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  // The first waiter begins the common wait.
  if (waiters_++ == 0) since_ns_ = now_ns;
}

void UnattachedWaits::end(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (--waiters_ == 0 && now_ns > since_ns_) waited_ns_ += now_ns - since_ns_;
}

std::uint64_t UnattachedWaits::take(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  // A running wait continues from now.
  if (waiters_ > 0 && now_ns > since_ns_) {
    waited_ns_ += now_ns - since_ns_;
    since_ns_ = now_ns;
  }
  return std::exchange(waited_ns_, 0);
}

void TrainerWait::end() {
  if (!std::exchange(counting_, false)) return;
  since_ns_ = shm::futex_clock_ns();  // the next attachment counts from here
  if (attachment_ != nullptr) {
    attachment_->cursor().end_wait();
  } else {
    unattached_.end(since_ns_);
  }
}

void TrainerWait::set_attachment(const std::shared_ptr<Attachment>& attachment) {
  // Counted in the right place already.
  if (counting_ && attachment == attachment_) return;
  end();
  attachment_ = attachment;
  counting_ = true;
  if (attachment_ != nullptr) {
    attachment_->cursor().begin_wait(since_ns_);
  } else {
    unattached_.begin(since_ns_);
  }
}

void TrainerWait::sleep(const std::shared_ptr<DoorClient>& door, std::uint64_t seen,
                        std::uint64_t until_ns) {
  const std::uint64_t now = shm::futex_clock_ns();
  until_ns = std::min(until_ns, now + kSleepMaxNs);
  if (until_ns <= now) return;
  // A writer that has stopped rings no bell: what follows comes through the socket.
  const bool running = attachment_ != nullptr &&
                       shm::read_state(attachment_->ring().writer()) == shm::kWriterRunning;
  if (running) {
    shm::sleep_for_publish(attachment_->ring().writer(), seen, until_ns);
  } else if (door != nullptr) {
    door->wait(static_cast<int>((until_ns - now) / 1'000'000U + 1));
  } else {
    std::this_thread::sleep_for(std::chrono::nanoseconds(until_ns - now));
  }
}

}  // namespace echoline::client
