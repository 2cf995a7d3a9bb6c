// The user's choices for the live view, and the effect of keys on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::top {

enum class Sort : std::uint8_t { kName, kWait, kLag, kRate };
// The name of the order, for the line of keys.
std::string_view sort_name(Sort sort);

struct View {
  std::string stream;  // the chosen one; it may not exist
  Sort sort = Sort::kName;
  bool paused = false;
  bool help = false;
  bool stall = false;  // what delays the trainers, in their place
  std::string clock;   // local time of the answer, "14:02:11"
  std::string notice;  // printable; "" for none
};

// "14:02:11", local time.
std::string clock_text(double unix_seconds);

// Applies keys, as the terminal's bytes: letters, digits, and arrows as escape sequences. Returns
// false if the user quits. `streams` are the names in the order of the screen.
bool apply_keys(std::string_view bytes, const std::vector<std::string>& streams, View& view);

}  // namespace echoline::top
