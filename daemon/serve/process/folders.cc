#include "serve/process/folders.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace echoline::serve {
namespace {

constexpr const char* kRemedy = "; set daemon.runtime_dir to a folder of this user's";

Status make_folder(const std::string& path, mode_t mode, const char* key) {
  std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return Status();
  return errno_status(errno, path + ": cannot be made; set " + key + " to a folder of this user's");
}

// For a folder that may have existed before: in /tmp, another user can create the name first.
Status check_trusted(int folder, const std::string& path) {
  struct stat found {};
  if (::fstat(folder, &found) != 0) return errno_status(errno, path);
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{} belongs to user {}{}", path, found.st_uid, kRemedy));
  }
  if ((found.st_mode & S_IWOTH) != 0) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{} can be written to by everybody (mode {:o}); run chmod o-w {}",
                              path, found.st_mode & 07777, path));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) return errno_status(errno, path + kRemedy);
  return Status();
}

}  // namespace

Result<RuntimeDir> RuntimeDir::open(const std::string& path) {
  const bool root = ::geteuid() == 0;
  ECHOLINE_TRY(make_folder(path, root ? 0750 : 0700, "daemon.runtime_dir"));
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno_status(errno, path + kRemedy);
  ECHOLINE_TRY(check_trusted(folder.get(), path));
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return RuntimeDir(std::move(folder));
  if (errno != EWOULDBLOCK) return errno_status(errno, path);
  return Status(Code::kAlreadyExists,
                path +
                    " is in use by another daemon; stop it, or set daemon.runtime_dir to another "
                    "folder");
}

Status make_state_dir(const std::string& path) {
  ECHOLINE_TRY(make_folder(path, 0750, "daemon.state_dir"));
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    return errno_status(errno, path + "; set daemon.state_dir to a folder of this user's");
  }
  return Status();
}

}  // namespace echoline::serve
