// Error texts for a wrong call of `echoline`. Pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace echoline::cli {

// The text for stderr after a parse error (not help or version): the error, the most similar name
// for a misspelt one, and how to call the command.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments);

}  // namespace echoline::cli
