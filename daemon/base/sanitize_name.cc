#include "base/sanitize_name.h"

#include "base/utf8.h"

namespace echoline {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  // A UTF-8 character has at most three bytes after its first.
  while (end > 0 && bytes_max - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
    --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string sanitize_name(std::string_view name) {
  std::string shown;
  for (const char& c : to_utf8(cut_text(name, kShownNameBytesMax))) {
    shown += is_control(c) ? kReplacement : std::string_view(&c, 1);
  }
  return shown;
}

}  // namespace echoline
