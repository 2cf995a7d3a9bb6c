// For error messages: lists of known names, and the name that was probably meant. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echoline::config {

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
