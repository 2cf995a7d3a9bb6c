#include "base/shown_name.h"

#include "base/utf8.h"

namespace echoline {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Cut before a character rather than within it.
std::string_view beginning(std::string_view name) {
  if (name.size() <= kShownNameBytesMax) return name;
  std::size_t end = kShownNameBytesMax;
  while (end > kShownNameBytesMax - 3 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  return name.substr(0, end);
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string shown;
  for (const char& c : to_utf8(beginning(name))) {
    shown += is_control(c) ? kReplacement : std::string_view(&c, 1);
  }
  return name.size() > kShownNameBytesMax ? shown + "..." : shown;
}

}  // namespace echoline
