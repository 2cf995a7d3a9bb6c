// Why the runner cannot go on with a plugin or a sample, as an exception within the runner. None
// passes through functions of the plugin.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace echoline::plugin_runner {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace echoline::plugin_runner
