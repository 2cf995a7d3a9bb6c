// Hexadecimal digits are upper-case, as signatures require.
#include "source/http/escape.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::source {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void append_escaped(std::string& text, char c) {
  text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string uri_escape(std::string_view text, bool keep_slash) {
  std::string escaped;
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && keep_slash))
      escaped += c;
    else
      append_escaped(escaped, c);
  }
  return escaped;
}

std::string escaped_query(const NamedValues& query) {
  NamedValues escaped;
  for (const auto& [name, value] : query)
    escaped.emplace_back(uri_escape(name, false), uri_escape(value, false));
  // Sorted after escaping, as the AWS signature requires.
  std::sort(escaped.begin(), escaped.end());
  std::string text;
  for (const auto& [name, value] : escaped)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  return text;
}

std::string escaped_target(std::string_view path, const NamedValues& query) {
  std::string target = uri_escape(path, true);
  if (!query.empty()) target.append("?").append(escaped_query(query));
  return target;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Two digits must follow; a '%' at the end is text.
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    if (escape) {
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string wire_path(std::string_view path) {
  // Escapes that are there already stay ('%'), so the path is not escaped twice.
  constexpr std::string_view kAllowed = "/%:@!$&'()*+,;=";
  std::string escaped;
  for (const char c : path) {
    if (is_unreserved(c) || kAllowed.find(c) != std::string_view::npos)
      escaped += c;
    else
      append_escaped(escaped, c);
  }
  return escaped;
}

}  // namespace echoline::source
