// One loop waits for keys, signals and the daemon's answers, and draws after each of them.
#include "cli/top_live.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <optional>

#include "base/clock.h"
#include "top/frame.h"
#include "top/terminal.h"

namespace echoline::cli {
namespace {

// How often the display of a daemon's absence is updated.
constexpr int kTickMs = 1000;
// A daemon counts as silent after this many intervals and this time without an answer.
constexpr std::uint64_t kSilentIntervals = 3;
constexpr std::uint64_t kSilentNs = 3'000'000'000;

// The state of the view: the last answer, what is shown, and the terminal. One thread.
class LiveTop {
 public:
  LiveTop(StatsWatcher& watcher, const TerminalSignals& signals, std::chrono::milliseconds interval,
          const std::string& stream)
      : watcher_(watcher), signals_(signals), interval_(interval) {
    view_.stream = stream;
  }

  Status run() {
    while (!terminal_ || draw()) {
      const bool has_keys = terminal_ && ::isatty(STDIN_FILENO) == 1;
      std::array<pollfd, 3> waits = {{{has_keys ? STDIN_FILENO : -1, POLLIN, 0},
                                      {signals_.fd(), POLLIN, 0},
                                      {watcher_.fd(), POLLIN, 0}}};
      ::poll(waits.data(), waits.size(), kTickMs);
      if (waits[0].revents != 0 && !take_keys()) break;
      if (waits[1].revents != 0 && !take_signal()) break;
      if (waits[2].revents != 0) ECHOLINE_TRY(take_news());
    }
    return Status();
  }

 private:
  // False: the terminal has closed.
  bool draw() {
    view_.notice = notice();
    const top::Size size = top::Terminal::size();
    return terminal_->draw(top::frame(shown_, view_, size, theme_), size, theme_);
  }

  // The line about a daemon that is away or silent; "" if it answers.
  std::string notice() const {
    const std::uint64_t silent_ns = monotonic_ns() - answered_ns_;
    const auto seconds = silent_ns / 1'000'000'000;
    if (away_) {
      return fmt::format("the daemon went away {} s ago; waiting for its return", seconds);
    }
    const auto interval_ns =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(interval_).count());
    const bool silent = silent_ns > kSilentNs && silent_ns > kSilentIntervals * interval_ns;
    return silent ? fmt::format("the daemon has not answered for {} s", seconds) : "";
  }

  // False: the user quits, or stdin has closed.
  bool take_keys() {
    std::array<char, 64> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) return false;
    std::vector<std::string> names;
    for (const top::StreamInterval& stream : shown_.streams) names.push_back(stream.now.name());
    const bool was_paused = view_.paused;
    const bool continues =
        top::apply_keys({bytes.data(), static_cast<std::size_t>(count)}, names, view_);
    if (was_paused && !view_.paused) show(latest_);
    return continues;
  }

  // False: the signal ends the view.
  bool take_signal() {
    switch (signals_.take()) {
      case 0:
      case SIGWINCH:
        return true;
      case SIGTSTP:
        // SIGTSTP is blocked and read here, so the process must stop itself, with SIGSTOP.
        if (terminal_) terminal_->leave();
        ::raise(SIGSTOP);
        return true;
      case SIGCONT:
        if (terminal_) terminal_->enter();
        return true;
      default:
        return false;
    }
  }

  // Takes the watcher's latest answer and status. Opens the terminal at the first answer, so that
  // an error before it is printed as plain text.
  Status take_news() {
    const StatsWatcher::News news = watcher_.take();
    if (news.answer) {
      if (!terminal_) ECHOLINE_TRY(known_stream(view_.stream, *news.answer));
      latest_ = top::between(news.reconnected ? v1::WatchStatsResponse() : answer_, *news.answer);
      answer_ = *news.answer;
      answered_ns_ = news.answered_ns;
      if (!view_.paused) show(latest_);
      if (!terminal_) terminal_.emplace();
    }
    away_ = !news.status.ok();
    // After the first answer, a missing daemon is not an error: wait for its return.
    const bool waits = terminal_ && news.status.code() == Code::kUnavailable;
    return waits ? Status() : news.status;
  }

  // Makes this interval the one on the screen.
  void show(const top::Interval& interval) {
    shown_ = interval;
    view_.clock = top::clock_text(shown_.unix_seconds);
    if (view_.stream.empty() && !shown_.streams.empty()) {
      view_.stream = shown_.streams.front().now.name();
    }
  }

  StatsWatcher& watcher_;
  const TerminalSignals& signals_;
  const std::chrono::milliseconds interval_;
  const top::Theme theme_ = top::theme_of_environment();
  top::View view_;
  std::optional<top::Terminal> terminal_;  // from the first answer on
  v1::WatchStatsResponse answer_;
  top::Interval latest_;
  top::Interval shown_;  // the latest, or the one at the pause
  std::uint64_t answered_ns_ = 0;
  bool away_ = false;
};

}  // namespace

TerminalSignals::TerminalSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}) {
    sigaddset(&set, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int TerminalSignals::take() const {
  signalfd_siginfo signal{};
  return ::read(fd_.get(), &signal, sizeof signal) == sizeof signal
             ? static_cast<int>(signal.ssi_signo)
             : 0;
}

Status run_live_top(StatsWatcher& watcher, const TerminalSignals& signals,
                    std::chrono::milliseconds interval, const std::string& stream) {
  return LiveTop(watcher, signals, interval, stream).run();
}

}  // namespace echoline::cli
