// What the refusals of all stores have in common: which ones to retry, their error code, and how to
// show their text.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

// Whether a retry may help: the store is too busy, or temporarily broken.
bool retry_by_status(int status);

// The code of a refusal that is not retried.
Code code_of_status(int status);

// Advice about a missing, changed or shortened object; empty for other answers.
std::string_view hint_by_status(int status);

// Text from the network for a message: printable, at most 300 bytes.
std::string printable(std::string_view text);

}  // namespace echoline::source
