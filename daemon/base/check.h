// Aborts the daemon on a programming error. The supervisor restarts it, and trainers re-attach.
#pragma once

#include <string_view>

namespace echoline {

[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line);

}  // namespace echoline

#define ECHOLINE_CHECK(condition) \
  ((condition) ? void() : ::echoline::check_failed(#condition, __FILE__, __LINE__))
