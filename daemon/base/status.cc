#include "base/status.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace echoline {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kAlreadyExists:
      return "already exists";
    case Code::kPermissionDenied:
      return "permission denied";
    case Code::kFailedPrecondition:
      return "failed precondition";
    case Code::kResourceExhausted:
      return "resource exhausted";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kDeadlineExceeded:
      return "deadline exceeded";
    case Code::kCancelled:
      return "cancelled";
    case Code::kDataLoss:
      return "data loss";
    case Code::kUnimplemented:
      return "unimplemented";
    case Code::kInternal:
      return "internal";
  }
  return "unknown";
}

Status Status::with_context(std::string_view context) && {
  if (!ok()) message_ = std::string(context) + ": " + message_;
  return std::move(*this);
}

namespace {

Code code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EEXIST:
    case EADDRINUSE:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    case ETIMEDOUT:
      return Code::kDeadlineExceeded;
    case EINVAL:
    case EISDIR:
    case ENAMETOOLONG:
      return Code::kInvalidArgument;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

std::string errno_text(int error) {
  const std::string text = std::generic_category().message(error);
  if (error != EMFILE && error != ENFILE) return text;
  return text + "; raise the limit of open files (LimitNOFILE of systemd, ulimit -n)";
}

Status errno_status(int error, std::string_view what) {
  return Status(code_of_errno(error), std::string(what) + ": " + errno_text(error));
}

}  // namespace echoline
