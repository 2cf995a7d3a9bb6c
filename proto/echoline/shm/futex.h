// Shared futexes: sleeping until a 32-bit word in shared memory changes, across processes. Not
// std::atomic::wait, which libstdc++ builds on private futexes; and every sleep has a deadline, so
// a dead peer never hangs us.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

namespace echoline::shm {

enum class FutexResult {
  kWoken,        // by a wake, or for no reason: look again
  kChanged,      // the word was not `expected` when the kernel looked
  kTimedOut,     // the deadline has passed
  kInterrupted,  // a signal handler ran: let it be served (Ctrl-C), then look again
};

// CLOCK_MONOTONIC, the clock of every deadline and time in shared memory.
inline std::uint64_t futex_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Sleeps while *word == expected, until the absolute CLOCK_MONOTONIC deadline. `word` may stand in
// a read-only mapping; it must stay mapped. Any thread. Callers loop: every result but kTimedOut
// means "look again".
inline FutexResult futex_wait(const std::uint32_t* word, std::uint32_t expected,
                              std::uint64_t deadline_ns) {
  timespec deadline{};
  deadline.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000U);
  deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000U);
  // WAIT_BITSET, not WAIT: only it takes an absolute time, so that no retry lengthens the wait.
  const long rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, &deadline, nullptr,
                          FUTEX_BITSET_MATCH_ANY);
  if (rc == 0) return FutexResult::kWoken;
  switch (errno) {
    case EAGAIN:
      return FutexResult::kChanged;
    case ETIMEDOUT:
      return FutexResult::kTimedOut;
    case EINTR:
      return FutexResult::kInterrupted;
    default:
      return FutexResult::kWoken;  // a word that can't be waited for: the caller looks again
  }
}

// Wakes everybody who sleeps on the word, in any process; returns how many. Also through a
// read-only mapping.
inline int futex_wake_all(const std::uint32_t* word) {
  const long woken = syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

}  // namespace echoline::shm
