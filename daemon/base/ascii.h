// Letters without a locale: names in protocols and archives are bytes, not text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace echoline {

// The letters A to Z in lower case; all other bytes stay.
inline std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// `text` without spaces, tabs and line ends at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

}  // namespace echoline
