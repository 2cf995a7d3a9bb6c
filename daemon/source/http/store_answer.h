// What all stores' refusals have in common: which pass by themselves, what kind of error they are,
// and how their words are shown.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// Worth another attempt: too busy, or broken for now.
bool retry_by_status(int status);

Code code_of_status(int status);

// What to do about a missing, changed or shortened object; empty for other answers.
std::string_view hint_by_status(int status);

// Words from the network for a message: printable, at most 300 bytes.
std::string printable(std::string_view text);

}  // namespace echoline::source
