#include "base/system_limit.h"

#include <fmt/format.h>

#include <cerrno>

namespace echoline {

Status limit_reached(const std::system_error& error) {
  const int code = error.code().value();
  const char* remedy = "";
  // What pthread_create reports.
  if (code == EAGAIN)
    remedy =
        ": no more threads; raise the limit (TasksMax of systemd, ulimit -u, pids of a container)";
  if (code == EMFILE || code == ENFILE)
    remedy = ": raise the limit of open files (LimitNOFILE of systemd, ulimit -n)";
  return Status(Code::kResourceExhausted, fmt::format("{}{}", error.code().message(), remedy));
}

}  // namespace echoline
