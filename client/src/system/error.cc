#include "system/error.h"

#include <cerrno>
#include <system_error>

namespace echoline::client {
namespace {

echoline_status status_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ECONNREFUSED:
      return ECHOLINE_NOT_FOUND;
    case EACCES:
    case EPERM:
      return ECHOLINE_PERMISSION_DENIED;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return ECHOLINE_RESOURCE_EXHAUSTED;
    case EINVAL:
    case ENAMETOOLONG:
      return ECHOLINE_INVALID_ARGUMENT;
    // Everything else may pass by itself.
    default:
      return ECHOLINE_UNAVAILABLE;
  }
}

}  // namespace

Error errno_error(int number, std::string_view what) {
  return {status_of_errno(number),
          std::string(what) + ": " + std::generic_category().message(number)};
}

}  // namespace echoline::client
