#include "base/system_limit.h"

#include <cerrno>
#include <string>
#include <utility>

namespace echoline {

Status limit_reached(const std::system_error& error) {
  std::string text = errno_text(error.code().value());
  // What pthread_create reports.
  if (error.code().value() == EAGAIN)
    text +=
        ": no more threads; raise the limit (TasksMax of systemd, ulimit -u, pids of a container)";
  return Status(Code::kResourceExhausted, std::move(text));
}

}  // namespace echoline
