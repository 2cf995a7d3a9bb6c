// The terminal of a live view: one alternate screen, single keys, and all as it was before at the
// end. ANSI sequences that every terminal of the last decades knows, and termios; no library.
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

// Whether stdout is a terminal that can be drawn on: TERM is neither missing, empty nor "dumb".
bool can_draw();
// From the locale (UTF-8 or not), NO_COLOR (no-color.org) and TERM. Sets the process' locale for
// characters.
Theme theme_of_environment();

// Not thread safe, one at a time. The destructor restores the terminal; a signal's default action
// would not, so those that end the process are to be blocked and read while one of these lives.
class Terminal {
 public:
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // For a stop of the process (Ctrl-Z) and after it.
  void leave();
  void enter();

  // As it is now; 80 x 24 where the terminal does not say.
  static Size size();
  // Draws what changed since the last frame, in one write. False: the terminal is gone.
  bool draw(const std::vector<Line>& lines, const Size& size, const Theme& theme);

 private:
  termios before_{};
  const bool has_keys_;  // stdin is a terminal
  std::vector<std::string> shown_;
  Size shown_size_{.columns = 0, .rows = 0};
};

}  // namespace echoline::top
