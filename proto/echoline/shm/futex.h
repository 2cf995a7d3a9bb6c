// Futexes across processes: sleep until a 32-bit word in shared memory changes. std::atomic::wait
// does not work here, because libstdc++ uses process-private futexes. Every sleep has a deadline,
// so the death of the other process cannot block a sleeper.
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
  kWoken,        // by a wake or spuriously
  kChanged,      // the word did not have the value `expected`
  kTimedOut,     // the deadline has passed
  kInterrupted,  // a signal handler ran; the caller may want to handle it (Ctrl-C)
};

// CLOCK_MONOTONIC, the clock of all deadlines and times in shared memory.
inline std::uint64_t futex_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Sleeps while *word == expected, until the absolute CLOCK_MONOTONIC deadline. `word` may be in a
// read-only mapping, and must stay mapped. Any thread. Call it in a loop: after every result except
// kTimedOut, check the condition again.
inline FutexResult futex_wait(const std::uint32_t* word, std::uint32_t expected,
                              std::uint64_t deadline_ns) {
  timespec deadline{};
  deadline.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000U);
  deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000U);
  // FUTEX_WAIT_BITSET instead of FUTEX_WAIT: it takes an absolute time, so a retry does not extend
  // the wait.
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
      return FutexResult::kWoken;  // cannot wait on this word: the caller polls
  }
}

// Wakes all threads of all processes that sleep on the word; returns their number. Works through a
// read-only mapping, too.
inline int futex_wake_all(const std::uint32_t* word) {
  const long woken = syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

}  // namespace echoline::shm
