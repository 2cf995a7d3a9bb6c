// How the writer sleeps until slots come back, and how others wake it.
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"
#include "ring/shared_ring.h"

namespace echoline::ring {
namespace {

// The longest sleep between two looks: what a reader that releases without waking costs the others.
constexpr std::uint64_t kSleepNsMax = 100'000'000;
// Wakes without progress after which the writer stops listening for a moment: a bell that rings for
// nothing costs its ringer a CPU, not us.
constexpr int kIdleWakesMax = 16;
constexpr std::uint64_t kDeafNs = 1'000'000;
constexpr std::uint64_t kRetryNs = 20'000;

void sleep_ns(std::uint64_t duration_ns) {
  const timespec duration{0, static_cast<long>(duration_ns)};
  nanosleep(&duration, nullptr);
}

}  // namespace

bool SharedRing::wait_released(std::uint64_t count, std::uint64_t deadline_ns) {
  int idle_wakes = 0;
  while (true) {
    const std::uint32_t changes = changes_.load();
    if (released() >= count) return true;
    if (interrupted_.exchange(false)) return false;
    if (monotonic_ns() >= deadline_ns) return false;
    if (sleep_for_release(changes, deadline_ns)) {
      idle_wakes = 0;
    } else if (++idle_wakes >= kIdleWakesMax) {
      sleep_ns(kDeafNs);
    }
  }
}

bool SharedRing::sleep_for_release(std::uint32_t changes, std::uint64_t deadline_ns) {
  // Only the slowest reader's release can raise released(): its bell is the one to sleep on.
  const Readers::Slowest slowest = readers_.slowest();
  shm::WriterPage& writer = mapping_.writer();
  const std::uint32_t* word = slowest.cursor ? &slowest.cursor->page().bell : &never_rung_;
  sleeper_changes_.store(changes);
  sleeping_on_.store(word);
  shm::set_writer_waiting(writer, true);
  const std::uint32_t bell = slowest.cursor ? shm::read_cursor_bell(slowest.cursor->page()) : 0;
  const auto moved = [&] {
    return changes_.load() != changes ||
           (slowest.cursor && shm::read_released(slowest.cursor->page()) != slowest.seen);
  };
  shm::FutexResult result = shm::FutexResult::kWoken;
  if (!moved())
    result = shm::futex_wait(word, bell, std::min(deadline_ns, monotonic_ns() + kSleepNsMax));
  shm::set_writer_waiting(writer, false);
  sleeping_on_.store(nullptr);
  return result == shm::FutexResult::kTimedOut || moved();
}

// A word of ours can't be changed to stop a sleep that is about to begin (the bell belongs to the
// reader), so the wake is repeated until the writer has got up: a few microseconds, and rarely more
// than once.
void SharedRing::announce_change() {
  const std::uint32_t mine = changes_.fetch_add(1) + 1;
  while (const std::uint32_t* word = sleeping_on_.load()) {
    if (static_cast<std::int32_t>(sleeper_changes_.load() - mine) >= 0) return;
    if (shm::futex_wake_all(word) == 0) sleep_ns(kRetryNs);
  }
}

void SharedRing::interrupt() {
  interrupted_.store(true);
  announce_change();
}

}  // namespace echoline::ring
