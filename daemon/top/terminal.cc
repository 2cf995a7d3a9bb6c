// Only changed lines are written, and filled with spaces instead of cleared first. So nothing
// flickers, and a slow connection carries little.
#include "top/terminal.h"

#include <fmt/core.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <string_view>

namespace echoline::top {
namespace {

// Alternate screen, no cursor, no wrapping at the right border.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kClear = "\x1b[0m\x1b[2J";

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool can_draw() {
  const std::string_view kind = environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !kind.empty() && kind != "dumb";
}

Theme theme_of_environment() {
  std::setlocale(LC_CTYPE, "");
  return {.utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8",
          .color = can_draw() && environment("NO_COLOR").empty()};
}

// Keys arrive one by one and are not echoed, but Ctrl-C still sends a signal (ISIG stays set).
Terminal::Terminal() : has_keys_(::isatty(STDIN_FILENO) == 1) {
  if (has_keys_) ::tcgetattr(STDIN_FILENO, &before_);
  enter();
}

Terminal::~Terminal() { leave(); }

void Terminal::leave() {
  write_all(kLeave);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void Terminal::enter() {
  if (has_keys_) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys);
  }
  write_all(kEnter);
  // The alternate screen is empty, so the next draw() must write every row.
  shown_.clear();
  shown_size_ = {.columns = 0, .rows = 0};
}

Size Terminal::size() {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
      window.ws_row == 0) {
    return {};
  }
  return {.columns = window.ws_col, .rows = window.ws_row};
}

bool Terminal::draw(const std::vector<Line>& lines, const Size& size, const Theme& theme) {
  std::string frame;
  const bool resized = size.columns != shown_size_.columns || size.rows != shown_size_.rows;
  if (resized) frame += kClear;
  std::vector<std::string> rows(size.rows, Line().text(size.columns));
  for (std::size_t row = 0; row < size.rows; ++row) {
    if (row < lines.size()) rows[row] = lines[row].styled(size.columns, theme);
    if (resized || rows[row] != shown_[row])
      frame += fmt::format("\x1b[{};1H{}", row + 1, rows[row]);
  }
  shown_ = std::move(rows);
  shown_size_ = size;
  return write_all(frame);
}

}  // namespace echoline::top
