// What the user has chosen to see, and what a key changes of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::top {

enum class Sort : std::uint8_t { kName, kWait, kLag, kRate };
// The word for the sort, as it stands below the screen.
std::string_view sort_name(Sort sort);

struct View {
  std::string stream;  // the chosen one; it need not be there
  Sort sort = Sort::kName;
  bool paused = false;
  bool help = false;
  std::string clock;   // local time of the look, as it is to be shown
  std::string notice;  // printable; "" for none
};

// "14:02:11", local time.
std::string clock_text(double unix_seconds);

// Keys that came as bytes from a terminal: letters, digits, and arrows as escape sequences. False:
// the user wants to quit. `streams` are the names in their order on the screen.
bool apply_keys(std::string_view bytes, const std::vector<std::string>& streams, View& view);

}  // namespace echoline::top
