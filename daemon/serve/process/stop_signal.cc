// Uses sigwait in a thread, not a signal handler, so the code need not be async-signal-safe.
#include "serve/process/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/log.h"

namespace echoline::serve {
namespace {

// One request often arrives as two signals: `timeout` signals the process and its group, and a
// script forwards the signal that the terminal has sent to both.
constexpr std::chrono::milliseconds kSameRequest{500};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// The next signal; 0 if the deadline is over first.
int wait_for_signal(std::chrono::steady_clock::time_point deadline) {
  // EINTR and foreign wake-ups: only the time that is left.
  const sigset_t set = stop_signals();
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          deadline - std::chrono::steady_clock::now())
                          .count();
    if (left <= 0) return 0;
    const timespec timeout = {.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    const int signal = ::sigtimedwait(&set, nullptr, &timeout);
    if (signal > 0) return signal;
    if (errno == EAGAIN) return 0;
  }
}

}  // namespace

StopSignal::StopSignal(std::chrono::milliseconds patience, std::vector<std::string> leftovers)
    : patience_(patience), leftovers_(std::move(leftovers)) {
  // A trainer that closes its socket must be an error, not the end of the process.
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_signals();
  // Threads that start later inherit this.
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  listener_ = std::thread([this] { listen(); });
}

StopSignal::~StopSignal() {
  // Wakes the thread from sigwait or sigtimedwait; `ending_` shows that it is not a user's signal.
  ending_ = true;
  ::pthread_kill(listener_.native_handle(), SIGTERM);
  listener_.join();
}

void StopSignal::listen() {
  ::pthread_setname_np(::pthread_self(), "signals");
  const sigset_t set = stop_signals();
  int signal = 0;
  // sigwait fails only for an invalid set.
  while (::sigwait(&set, &signal) != 0) {
  }
  if (ending_) return;
  log_info("serve", "stopping on {}; a second signal ends at once",
           signal == SIGINT ? "SIGINT" : "SIGTERM");
  {
    const MutexLock lock(mutex_);
    // Under the lock: wait() either sees it or is woken.
    requested_ = true;
  }
  changed_.notify_all();
  const auto asked = std::chrono::steady_clock::now();
  int second = 0;
  do {
    second = wait_for_signal(asked + patience_);
    // Signals of the same request do not count as a second one.
  } while (second != 0 && !ending_ && std::chrono::steady_clock::now() < asked + kSameRequest);
  if (!ending_) exit_now(second == 0 ? 0 : 1);
}

// Without destructors, which could hang: that is why it ends here.
void StopSignal::exit_now(int status) const {
  log_warning("serve", "{}", status == 0 ? "not stopped in time; ending now" : "ending at once");
  for (const std::string& path : leftovers_) ::unlink(path.c_str());
  ::_exit(status);
}

void StopSignal::wait() {
  MutexLock lock(mutex_);
  while (!requested_) changed_.wait(lock);
}

bool StopSignal::wait_for(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (!requested_ && changed_.wait_until(lock, until)) {
  }
  return requested_;
}

}  // namespace echoline::serve
