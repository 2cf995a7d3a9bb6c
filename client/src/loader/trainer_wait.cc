#include "loader/trainer_wait.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "echoline/shm/cursor_steps.h"

namespace echoline::client {
namespace {

// The longest sleep: how late the death of the daemon is noticed.
constexpr std::uint64_t kSleepMaxNs = 50'000'000;

}  // namespace

void TrainerWait::set_attachment(const std::shared_ptr<Attachment>& attachment) {
  if (attachment == attachment_) return;
  if (attachment_ != nullptr) attachment_->cursor().end_wait();
  attachment_ = attachment;
  if (attachment_ != nullptr) attachment_->cursor().begin_wait(since_ns_);
}

void TrainerWait::sleep(const std::shared_ptr<DoorClient>& door, std::uint64_t seen,
                        std::uint64_t until_ns) {
  const std::uint64_t now = shm::futex_clock_ns();
  until_ns = std::min(until_ns, now + kSleepMaxNs);
  if (until_ns <= now) return;
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
