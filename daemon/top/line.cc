// Widths come from wcwidth, which knows the wide characters of East Asia in a UTF-8 locale.
#include "top/line.h"

#include <wchar.h>

#include <algorithm>

#include "base/utf8.h"

namespace echoline::top {
namespace {

struct Character {
  std::size_t bytes = 0;  // 0: not valid UTF-8
  char32_t code = 0;
};

// The first character of `text`, which is not empty.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {1, byte(0)};
  // The lead byte gives the length; is_utf8() checks the rest.
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (text.size() < bytes || !is_utf8(text.substr(0, bytes))) return {};
  char32_t code = byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3fU);
  return {bytes, code};
}

// The width of a printable character. In an ASCII locale, the only other characters are this
// program's own marks, which take one column each.
std::size_t width_of(char32_t code) {
  const int width = code < 0x80 ? 1 : ::wcwidth(static_cast<wchar_t>(code));
  return width > 0 ? static_cast<std::size_t>(width) : 1;
}

bool is_printable(char32_t code, const Theme& theme) {
  if (code < 0x80) return code >= 0x20 && code != 0x7f;
  return theme.utf8 && ::wcwidth(static_cast<wchar_t>(code)) > 0;
}

std::string_view sequence_of(Style style, bool color) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kFaint:
      return "\x1b[2m";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kBusy:
    case Style::kGood:
      return color ? "\x1b[32m" : "";
    case Style::kStarved:
    case Style::kWarning:
      return color ? "\x1b[33m" : "";
    case Style::kBlocked:
      return color ? "\x1b[34m" : "";
    case Style::kBad:
      return color ? "\x1b[31m" : "\x1b[1m";
  }
  return "";
}

}  // namespace

std::string printable(std::string_view text, const Theme& theme) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (character.bytes > 0 && is_printable(character.code, theme)) {
      shown += text.substr(0, bytes);
    } else {
      shown += '?';
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    columns += width_of(character.code);
    text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
  }
  return columns;
}

namespace {

// The number of bytes of the leading characters that fit into `columns`.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character character = first_of(text.substr(bytes));
    const std::size_t width = width_of(character.code);
    if (width > columns) break;
    columns -= width;
    bytes += std::max<std::size_t>(character.bytes, 1);
  }
  return bytes;
}

}  // namespace

std::string shortened(const std::string& text, std::size_t columns, const Theme& theme) {
  if (columns_of(text) <= columns) return text;
  if (columns == 0) return "";
  return text.substr(0, bytes_within(text, columns - 1)) + (theme.utf8 ? "…" : "~");
}

Line& Line::add(std::string_view printable_text, Style style) {
  columns_ += columns_of(printable_text);
  pieces_.push_back({std::string(printable_text), style});
  return *this;
}

Line& Line::fill_to(std::size_t column) {
  return columns_ < column ? add(std::string(column - columns_, ' ')) : *this;
}

// Emits the pieces, cut at `columns`, and then spaces for the rest.
template <typename Emit>
void Line::each_fitting(std::size_t columns, Emit emit) const {
  std::size_t left = columns;
  for (const Piece& piece : pieces_) {
    const std::string_view part =
        std::string_view(piece.text).substr(0, bytes_within(piece.text, left));
    left -= columns_of(part);
    emit(part, piece.style);
    if (part.size() < piece.text.size()) break;
  }
  emit(std::string(left, ' '), Style::kPlain);
}

std::string Line::text(std::size_t columns) const {
  std::string all;
  each_fitting(columns, [&](std::string_view part, Style) { all += part; });
  return all;
}

std::string Line::styled(std::size_t columns, const Theme& theme) const {
  std::string all;
  each_fitting(columns, [&](std::string_view part, Style style) {
    const std::string_view sequence = sequence_of(style, theme.color);
    if (part.empty()) return;
    all += sequence;
    all += part;
    if (!sequence.empty()) all += "\x1b[0m";
  });
  return all;
}

}  // namespace echoline::top
