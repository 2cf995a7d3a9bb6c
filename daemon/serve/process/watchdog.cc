#include "serve/process/watchdog.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "serve/process/notify.h"

namespace echoline::serve {
namespace {

// Four checks: one late check is no reason to kill the daemon.
constexpr int kChecksPerPatience = 4;
// 10 ms to one day: other values are mistakes.
constexpr std::uint64_t kLeastMicros = 10'000, kMostMicros = 86'400'000'000;

// The value of the variable; 0 if it is missing or not a number.
std::uint64_t number(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  std::uint64_t found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  return error == std::errc() && end == text.data() + text.size() ? found : 0;
}

}  // namespace

std::chrono::microseconds watchdog_patience() {
  const std::uint64_t pid = number("WATCHDOG_PID");
  // The variables are meant for another process.
  if (pid != 0 && pid != static_cast<std::uint64_t>(::getpid())) return {};
  const std::uint64_t micros = number("WATCHDOG_USEC");
  return std::chrono::microseconds(micros == 0 ? 0 : std::clamp(micros, kLeastMicros, kMostMicros));
}

Watchdog::Watchdog(std::vector<RoundCount> loops)
    : loops_(std::move(loops)), rounds_(loops_.size()) {
  const std::chrono::microseconds patience = watchdog_patience();
  // Not watched: no thread.
  if (patience.count() == 0) return;
  thread_ = std::thread([this, patience] { run(patience / kChecksPerPatience); });
}

Watchdog::~Watchdog() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run(std::chrono::microseconds pause) {
  ::pthread_setname_np(::pthread_self(), "watchdog");
  MutexLock lock(mutex_);
  while (true) {
    const auto until = std::chrono::steady_clock::now() + pause;
    while (!ending_ && changed_.wait_until(lock, until)) {
    }
    if (ending_) return;
    // Without the lock: a count may block while its loop hangs, and the destructor needs the lock.
    lock.unlock();
    // Without a keep-alive the service manager restarts the daemon.
    if (all_made_progress()) notify_supervisor("WATCHDOG=1");
    lock.lock();
  }
}

bool Watchdog::all_made_progress() {
  bool all = true;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    // Read one after the other, and compared with the last check, not with each other.
    const std::uint64_t before = std::exchange(rounds_[i], loops_[i]());
    all &= rounds_[i] != before;
  }
  return all;
}

}  // namespace echoline::serve
