// The terminal of a live view: alternate screen and single keys; restored at the end. Uses common
// ANSI sequences and termios, no library.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "top/line.h"

namespace echoline::top {

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Whether stdout is a terminal with control sequences: TERM is set and not empty or "dumb".
bool can_draw();
// From the locale (UTF-8 or not), NO_COLOR (no-color.org) and TERM. Sets LC_CTYPE of the process.
Theme theme_of_environment();

// Not thread safe; at most one exists. The destructor restores the terminal. A signal's default
// action would not, so the owner blocks the signals that end the process and reads them itself.
class Terminal {
 public:
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // Before the process is stopped (Ctrl-Z), and after it continues.
  void leave();
  void enter();

  // The current size; 80 x 24 if the terminal does not report it.
  static Size size();
  // Draws what has changed since the last frame, in one write. False: the terminal has closed.
  bool draw(const std::vector<Line>& lines, const Size& size, const Theme& theme);

 private:
  termios before_{};
  const bool has_keys_;  // stdin is a terminal
  std::vector<std::string> shown_;
  Size shown_size_{.columns = 0, .rows = 0};
};

}  // namespace echoline::top
