#include "ring/release_wait.h"

#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"

namespace echoline::ring {
namespace {

// The longest sleep between two checks: the delay that a reader causes if it releases without
// waking the writer.
constexpr std::uint64_t kSleepNsMax = 100'000'000;
// A reader may ring its bell without releasing anything. After this many wakes without progress in
// a row the writer stops listening for kDeafNs, so such a reader wastes its own CPU, not the
// daemon's.
constexpr int kIdleWakesMax = 16;
constexpr std::uint64_t kDeafNs = 1'000'000;
constexpr std::uint64_t kRetryNs = 20'000;

void sleep_ns(std::uint64_t duration_ns) {
  const timespec duration{0, static_cast<long>(duration_ns)};
  nanosleep(&duration, nullptr);
}

}  // namespace

bool ReleaseWait::wait(std::uint64_t count, std::uint64_t deadline_ns) {
  int idle_wakes = 0;
  while (true) {
    // Loaded before the conditions: a change after this line ends the sleep below.
    const std::uint32_t changes = changes_.load();
    if (readers_.released() >= count) return true;
    if (interrupted_.exchange(false)) return false;
    if (monotonic_ns() >= deadline_ns) return false;
    // True: something changed, so the conditions are worth a look at once.
    if (sleep_once(changes, deadline_ns)) {
      idle_wakes = 0;
    } else if (++idle_wakes >= kIdleWakesMax) {
      sleep_ns(kDeafNs);
    }
  }
}

bool ReleaseWait::sleep_once(std::uint32_t changes, std::uint64_t deadline_ns) {
  // Only the slowest reader can raise released(), so the writer sleeps on its bell.
  const Readers::Slowest slowest = readers_.slowest();
  const std::uint32_t* word = slowest.cursor ? &slowest.cursor->page().bell : &never_rung_;
  // Order: announce first where the writer sleeps, then read the bell, then check for changes. A
  // change before the check is seen by `moved`; a later one finds sleeping_on_ set and wakes the
  // futex. The same holds for a reader and the waiting flag in shared memory.
  sleeper_changes_.store(changes);
  sleeping_on_.store(word);
  shm::set_writer_waiting(writer_, true);
  const std::uint32_t bell = slowest.cursor ? shm::read_cursor_bell(slowest.cursor->page()) : 0;
  const auto moved = [&] {
    return changes_.load() != changes ||
           (slowest.cursor && shm::read_released(slowest.cursor->page()) != slowest.seen);
  };
  shm::FutexResult result = shm::FutexResult::kWoken;
  if (!moved())
    // Returns at once if the bell has rung since it was read.
    result = shm::futex_wait(word, bell, std::min(deadline_ns, monotonic_ns() + kSleepNsMax));
  shm::set_writer_waiting(writer_, false);
  sleeping_on_.store(nullptr);
  return result == shm::FutexResult::kTimedOut || moved();
}

// The daemon can't change the futex word to stop a sleep that is about to begin, because the bell
// belongs to the reader. So it repeats the wake until it has woken the writer, or the writer is
// awake: that rarely takes more than one try. A hostile reader that sleeps on its own bell can be
// the one who was woken; the writer then sleeps kSleepNsMax at most.
void ReleaseWait::announce_change() {
  const std::uint32_t mine = changes_.fetch_add(1) + 1;
  while (const std::uint32_t* word = sleeping_on_.load()) {
    // A signed difference, because the counter wraps: the writer fell asleep after this change.
    if (static_cast<std::int32_t>(sleeper_changes_.load() - mine) >= 0) return;
    if (shm::futex_wake_all(word) > 0) return;
    // Nobody was woken: the writer has announced itself, but does not sleep yet.
    sleep_ns(kRetryNs);
  }
}

void ReleaseWait::interrupt() {
  // The flag before the change: the woken writer finds it.
  interrupted_.store(true);
  announce_change();
}

}  // namespace echoline::ring
