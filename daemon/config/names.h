// Names that users choose, and for error messages: lists of known names, and the name that was
// probably meant. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echoline::config {

// Of a stream or a source: it can be in an address, a file name and a metric's label. See
// kPlainNames.
bool is_plain_name(std::string_view name);
inline constexpr const char* kPlainNames =
    "allowed: letters, digits, '.', '_' and '-', a letter or digit first, at most 64";

// The name with the fewest edits (insert, delete, replace, swap adjacent letters) from `written`.
// Empty if the nearest one needs more than one edit and more than a third of the letters.
std::string nearest_name(std::string_view written, const std::vector<std::string>& known);

// "; did you mean 'shuffle'?", or "".
std::string did_you_mean(std::string_view written, const std::vector<std::string>& known);

// "a, b, c".
std::string join_names(const std::vector<std::string>& names);

// Splits "a|b|c" at the bars.
std::vector<std::string> split_names(std::string_view names);

}  // namespace echoline::config
