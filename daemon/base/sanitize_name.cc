#include "base/sanitize_name.h"

#include <algorithm>

#include "base/utf8.h"

namespace echoline {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The bytes of a character of UTF-8 that terminals obey: controls (C0, DEL, C1), separators of
// lines, and marks that change the direction of text. 0: it is none.
std::size_t hidden_bytes(std::string_view text) {
  if (is_control(text[0])) return 1;
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return 2;
  if (byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
  const bool general = byte(1) == 0x80 &&
                       (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return general || isolates ? 3 : 0;
}

std::string replace_hidden(std::string_view text, std::string_view line_break,
                           std::string_view tab) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t hidden = hidden_bytes(text);
    shown += hidden == 0       ? text.substr(0, 1)
             : text[0] == '\n' ? line_break
             : text[0] == '\t' ? tab
                               : kReplacement;
    text.remove_prefix(std::max<std::size_t>(hidden, 1));
  }
  return shown;
}

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
  return replace_hidden(to_utf8(cut_text(name, kShownNameBytesMax)), kReplacement, kReplacement);
}

std::string sanitize_text(std::string_view text) {
  return replace_hidden(to_utf8(cut_text(text, kShownTextBytesMax)), "\n    ", "\t");
}

std::string sanitize_output(std::string_view text) {
  return replace_hidden(to_utf8(text), "\n", "\t");
}

}  // namespace echoline
