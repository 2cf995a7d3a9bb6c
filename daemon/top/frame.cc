// The parts come in the order of their importance. What does not fit is cut at the end, except the
// line of keys.
#include "top/frame.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/pluralize.h"
#include "config/values.h"
#include "top/bar.h"
#include "top/panels.h"

namespace echoline::top {
namespace {

// With fewer rows there are no empty lines between the parts, and texts are shortened.
constexpr std::size_t kRowsOfAiryScreen = 20;
// A heading, one trainer, and the number of the others.
constexpr std::size_t kTrainerRowsMin = 3;

class Screen {
 public:
  Screen(std::size_t rows, bool airy) : rows_(rows), airy_(airy) {}

  std::size_t left() const { return rows_ - std::min(rows_, lines_.size()); }
  void add(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (left() > 0) lines_.push_back(line);
    }
  }
  void gap() {
    if (airy_) add({Line()});
  }
  std::vector<Line> end_with(const Line& last) && {
    lines_.resize(rows_);
    lines_.push_back(last);
    return std::move(lines_);
  }

 private:
  const std::size_t rows_;
  const bool airy_;
  std::vector<Line> lines_;
};

Line keys_line(const View& view) {
  Line line;
  line.add(fmt::format("q quit  ? help  p {}  j k stream  w waits  s sort: {}",
                       view.paused ? "continue" : "pause", sort_name(view.sort)),
           Style::kFaint);
  return line;
}

const StreamInterval* chosen_of(const Interval& interval, const View& view) {
  const auto found =
      std::find_if(interval.streams.begin(), interval.streams.end(),
                   [&view](const StreamInterval& one) { return one.now.name() == view.stream; });
  return found == interval.streams.end() ? nullptr : &*found;
}

void add_streams(Screen& screen, const Interval& interval, const View& view, const Size& size,
                 const Paper& paper) {
  const std::size_t rows_max = std::max<std::size_t>(2, size.rows / 4);
  screen.add(stream_table(interval.streams, view, rows_max, paper));
  screen.gap();
  const StreamInterval* stream = chosen_of(interval, view);
  if (stream == nullptr) {
    const std::string name = printable(view.stream, paper.theme);
    screen.add({Line().add(name.empty() ? "no streams" : "no stream '" + name + "' now")});
    return;
  }
  screen.add(stream_panel(*stream, size.rows < kRowsOfAiryScreen, paper));
  screen.gap();
  if (view.stall) {
    screen.add(stall_panel(*stream, paper));
  } else if (!stream->trainers.empty() && screen.left() >= kTrainerRowsMin) {
    screen.add(trainer_table(*stream, view.sort, screen.left(), paper));
  }
}

std::string trimmed(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

Line daemon_line(const Interval& interval, const View& view, const Paper& paper) {
  const v1::DaemonStatus& daemon = interval.daemon;
  Line line;
  line.add("echoline " + printable(daemon.version(), paper.theme), Style::kStrong);
  if (view.paused) line.add("  paused", Style::kWarning);
  if (daemon.draining()) line.add("  stopping", Style::kWarning);
  line.add("  " + view.clock);
  line.add(fmt::format("  memory {} of {} reserved",
                       config::format_bytes(daemon.memory_reserved_bytes()),
                       config::format_bytes(daemon.memory_budget_bytes())));
  line.add("  " + pluralize(daemon.workers(), "worker"));
  return line;
}

std::vector<Line> help_panel(const Paper& paper) {
  const BarMarks marks = bar_marks(paper.theme);
  std::vector<Line> lines;
  const auto add = [&](std::string_view label, const std::string& sentence) {
    for (Line& line : wrapped(label, words_of(sentence), " ", 4, paper)) lines.push_back(line);
  };
  add("q", "quits, as Ctrl-C does");
  add("p", "pauses: the screen stays as it is");
  add("j k", "or the arrows choose the stream that is shown, 1 to 9 the first nine");
  add("s", "sorts the trainers: by name, wait, lag (rows behind the foremost), rate");
  add("w", "shows what delays the trainers, instead of the trainers: waits, reads, slots");
  add("?", "shows this, and takes it away again");
  add("bars", fmt::format("{} busy, {} starved (nothing came in), {} blocked (nothing could go "
                          "out): shares of the time of a stage's threads",
                          marks.busy, marks.starved, marks.blocked));
  add("WAIT",
      "the share of its time that a trainer waited for a batch. It is charged to FETCH "
      "(storage), PREP (workers), RING (publishing), PEER (a slower job or rank) or AWAY "
      "(the daemon was gone)");
  add("R", "time before the echo point over time after it: echo factors up to R cost no time");
  return lines;
}

std::vector<Line> frame(const Interval& interval, const View& view, const Size& size,
                        const Theme& theme) {
  const Paper paper{.columns = size.columns, .theme = theme};
  Screen screen(size.rows - 1, size.rows >= kRowsOfAiryScreen);
  screen.add({daemon_line(interval, view, paper)});
  if (!view.notice.empty()) {
    screen.add(wrapped("", words_of(printable(view.notice, theme)), " ", 2, paper, Style::kBad));
  }
  screen.gap();
  if (view.help) {
    screen.add(help_panel(paper));
  } else {
    add_streams(screen, interval, view, size, paper);
  }
  return std::move(screen).end_with(keys_line(view));
}

std::string block(const Interval& interval, const View& view, std::size_t columns,
                  const Theme& theme) {
  const Paper paper{.columns = columns, .theme = theme};
  std::vector<StreamInterval> streams;
  for (const StreamInterval& stream : interval.streams) {
    if (view.stream.empty() || stream.now.name() == view.stream) streams.push_back(stream);
  }
  std::vector<Line> lines = {daemon_line(interval, view, paper)};
  const auto append = [&lines](const std::vector<Line>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  append(stream_table(streams, View(), streams.size() + 1, paper));
  for (const StreamInterval& stream : streams) {
    lines.push_back(Line().add(printable(stream.now.name(), theme)));
    append(stream_panel(stream, false, paper));
    if (stream.trainers.empty()) continue;
    append(trainer_table(stream, Sort::kName, stream.trainers.size() + 1, paper));
  }
  std::string text;
  for (const Line& line : lines) text += trimmed(line.text(columns));
  return text + "\n";
}

}  // namespace echoline::top
