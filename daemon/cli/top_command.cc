// `echoline top`: chooses the live form or the plain ones, and runs the plain ones.
#include <fmt/core.h>
#include <poll.h>

#include <cerrno>
#include <cstdio>

#include "cli/commands.h"
#include "cli/control_channel.h"
#include "cli/top_live.h"
#include "config/values.h"
#include "top/frame.h"
#include "top/json.h"
#include "top/terminal.h"

namespace echoline::cli {
namespace {

constexpr std::size_t kTextColumns = 100;

Status print_interval(const top::Interval& interval, const TopOptions& options,
                      const top::Theme& theme) {
  top::View view;
  view.stream = options.stream;
  view.clock = top::clock_text(interval.unix_seconds);
  fmt::print("{}", options.json ? top::interval_json(interval, options.stream)
                                : top::block(interval, view, kTextColumns, theme));
  return std::fflush(stdout) == 0 ? Status() : errno_status(errno, "stdout");
}

// Prints once that the daemon has gone away. Returns an error if it never answered, or if the error
// is final.
Status wait_out(const Status& ended, bool there) {
  if (ended.code() != Code::kUnavailable || !there) return ended;
  fmt::print(stderr, "echoline: the daemon went away; waiting for its return\n");
  return Status();
}

// Prints one block or line per interval, except for a daemon's first answer, which has no rates.
Status print_top(const DaemonOptions& daemon, StatsWatcher& watcher, const TopOptions& options) {
  const top::Theme theme = top::theme_of_environment();
  v1::WatchStatsResponse before;
  bool there = false;
  bool away = false;
  for (std::uint64_t printed = 0; options.count == 0 || printed < options.count;) {
    pollfd wait = {watcher.fd(), POLLIN, 0};
    ::poll(&wait, 1, -1);
    const StatsWatcher::News news = watcher.take();
    if (news.answer) {
      if (!there) ECHOLINE_TRY(known_stream(options.stream, *news.answer));
      if (!there && !options.json) print_other_daemons(daemon);
      there = true;
      if (!news.reconnected) {
        ECHOLINE_TRY(print_interval(top::between(before, *news.answer), options, theme));
        ++printed;
      }
      before = *news.answer;
    }
    if (!news.status.ok() && !away) ECHOLINE_TRY(wait_out(news.status, there));
    away = !news.status.ok();
  }
  return Status();
}

}  // namespace

Status top_streams(const DaemonOptions& daemon, const TopOptions& options) {
  ECHOLINE_ASSIGN(const std::uint64_t interval_ns, config::parse_duration_ns(options.interval));
  const auto interval =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(interval_ns));
  if (options.json || options.count > 0 || !top::can_draw()) {
    StatsWatcher watcher(daemon, interval);
    return print_top(daemon, watcher, options);
  }
  const TerminalSignals signals;
  StatsWatcher watcher(daemon, interval);
  ECHOLINE_TRY(run_live_top(watcher, signals, interval, options.stream));
  print_other_daemons(daemon);
  return {};
}

}  // namespace echoline::cli
