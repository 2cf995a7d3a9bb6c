// What is said about a wrong call of `echoline`. Pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace echoline::cli {

// The text for stderr, for a parse that ended in `error` (not help or version): what is wrong, the
// nearest name where one was misspelt, and how the command is called.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments);

}  // namespace echoline::cli
