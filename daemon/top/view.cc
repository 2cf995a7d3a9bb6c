// A terminal sends an arrow as ESC [ A or ESC O A, in one piece; other sequences are ignored.
#include "top/view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace echoline::top {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::array<std::string_view, 4> kSortNames = {"name", "wait", "lag", "rate"};

void choose(const std::vector<std::string>& streams, std::ptrdiff_t steps, View& view) {
  if (streams.empty()) return;
  const auto found = std::find(streams.begin(), streams.end(), view.stream);
  const auto last = static_cast<std::ptrdiff_t>(streams.size()) - 1;
  const std::ptrdiff_t place = found == streams.end() ? 0 : found - streams.begin() + steps;
  view.stream = streams[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last))];
}

// Removes one key from the front and returns its letter; 'j' and 'k' for arrows, 0 for an unknown
// sequence.
char take_key(std::string_view& bytes) {
  const char first = bytes.front();
  bytes.remove_prefix(1);
  if (first != kEscape || bytes.empty() || (bytes[0] != '[' && bytes[0] != 'O')) return first;
  bytes.remove_prefix(1);
  // The sequence has parameters and ends with one letter.
  while (!bytes.empty() && (bytes[0] < '@' || bytes[0] > '~')) bytes.remove_prefix(1);
  if (bytes.empty()) return 0;
  const char last = bytes.front();
  bytes.remove_prefix(1);
  return last == 'A' ? 'k' : last == 'B' ? 'j' : 0;
}

}  // namespace

std::string_view sort_name(Sort sort) { return kSortNames[static_cast<std::size_t>(sort)]; }

std::string clock_text(double unix_seconds) {
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

bool apply_keys(std::string_view bytes, const std::vector<std::string>& streams, View& view) {
  while (!bytes.empty()) {
    const char key = take_key(bytes);
    if (key == 'q') return false;
    if (key == 'p' || key == ' ') view.paused = !view.paused;
    if (key == '?' || key == 'h') view.help = !view.help;
    if (key == kEscape) view.help = false;
    if (key == 'w') view.stall = !view.stall;
    if (key == 'j') choose(streams, 1, view);
    if (key == 'k') choose(streams, -1, view);
    if (key == 's') {
      view.sort = static_cast<Sort>((static_cast<std::size_t>(view.sort) + 1) % kSortNames.size());
    }
    const auto digit = static_cast<std::size_t>(key - '1');
    if (key >= '1' && key <= '9' && digit < streams.size()) view.stream = streams[digit];
  }
  return true;
}

}  // namespace echoline::top
