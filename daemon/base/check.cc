#include "base/check.h"

#include <cstdlib>

#include "base/log.h"

namespace echoline {

void check_failed(std::string_view condition, std::string_view file, int line) {
  log_error("base", "check failed: {} at {}:{}; this is a bug in Echoline", condition, file, line);
  std::abort();
}

}  // namespace echoline
