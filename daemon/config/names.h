// Lists of known names in errors, and the one that was probably meant. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace echoline::config {

// The name with the fewest edits (insert, delete, replace, swap of neighbours) from `written`;
// empty when none is near: more than a third of the letters, and more than one, would have to
// change.
std::string nearest_name(std::string_view written, const std::vector<std::string>& known);

// "; did you mean 'shuffle'?", or nothing.
std::string did_you_mean(std::string_view written, const std::vector<std::string>& known);

// "a, b, c".
std::string join_names(const std::vector<std::string>& names);

// "a|b|c" cut at the bars.
std::vector<std::string> split_names(std::string_view names);

}  // namespace echoline::config
