// Letters without a locale: names in protocols and archives are bytes, not text.
#pragma once

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

}  // namespace echoline
