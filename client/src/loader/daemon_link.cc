#include "loader/daemon_link.h"

#include <time.h>

#include <utility>

#include "echoline/shm/futex.h"

namespace echoline::client {
namespace {

constexpr std::uint64_t kPollNs = 50'000'000;
// A daemon whose stream failed sends the reason through the socket. If none arrives within this
// time, report the failure without it.
constexpr std::uint64_t kReasonNs = 500'000'000;
// Texts that nobody takes: the oldest are dropped.
constexpr std::size_t kNewsMax = 16;
// Texts about a stream that is being opened: the first after this time, as many openings are short.
constexpr std::uint64_t kFirstProgressNs = 2'000'000'000;
constexpr std::uint64_t kProgressNs = 10'000'000'000;

// A few milliseconds late, and five times cheaper than the exact clock, which would add a third to
// the time of taking a ready batch.
std::uint64_t coarse_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Error DaemonLink::poll_attach(Connection& connection) {
  const std::uint64_t now = shm::futex_clock_ns();
  Error e = connector_.poll(now, connection);
  note_progress(now);
  return e;
}

void DaemonLink::note_progress(std::uint64_t now_ns) {
  if (connector_.progress().empty()) {
    progress_due_ns_ = 0;
  } else if (progress_due_ns_ == 0) {
    progress_due_ns_ = now_ns + kFirstProgressNs;
  } else if (now_ns >= progress_due_ns_) {
    progress_due_ns_ = now_ns + kProgressNs;
    add_news(connector_.progress());
  }
}

// Bounded: a trainer may never ask for them.
void DaemonLink::add_news(std::string text) {
  news_.push_back(std::move(text));
  if (news_.size() > kNewsMax) news_.pop_front();
}

void DaemonLink::set_connected(std::shared_ptr<DoorClient> door) {
  door_ = std::move(door);
  failing_since_ns_ = 0;
}

std::shared_ptr<DoorClient> DaemonLink::door_to_wait_on() const {
  return door_ != nullptr ? door_ : connector_.door();
}

bool DaemonLink::poll_is_due() {
  const std::uint64_t now = coarse_clock_ns();
  if (now - polled_ns_ < kPollNs) return false;
  polled_ns_ = now;
  return true;
}

DaemonLink::Event DaemonLink::poll_notices() {
  const bool alive = door_->poll_alive();
  for (std::string& news : door_->take_news()) add_news(std::move(news));
  // A verdict takes effect only after all published batches are read: see reason_of_end.
  if (door_->verdict()) return Event::kNone;
  if (!alive) {
    // Only the socket is closed; the ring stays mapped.
    door_.reset();
    return Event::kGone;
  }
  return door_->moved() ? Event::kMoved : Event::kNone;
}

Error DaemonLink::reason_of_end(bool writer_failed) {
  if (door_->verdict()) return *door_->verdict();
  if (!writer_failed) return {};
  const std::uint64_t now = shm::futex_clock_ns();
  // The notice with the reason may still be on its way.
  if (failing_since_ns_ == 0) failing_since_ns_ = now;
  if (now - failing_since_ns_ <= kReasonNs) return {};
  return {ECHOLINE_INTERNAL, "the stream failed; the daemon's log says why"};
}

void DaemonLink::close_but_keep_slots() { DoorClient::leave_open(std::exchange(door_, nullptr)); }

std::optional<std::string> DaemonLink::take_news() {
  if (news_.empty()) return std::nullopt;
  std::string oldest = std::move(news_.front());
  news_.pop_front();
  return oldest;
}

}  // namespace echoline::client
