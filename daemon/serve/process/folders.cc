#include "serve/process/folders.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::serve {
namespace {

// As long as a stop can take (the drain, and ending).
constexpr std::uint64_t kPatienceNs = 10'000'000'000;
constexpr std::chrono::milliseconds kLockPause{50};
constexpr const char* kRemedy = "; set daemon.runtime_dir to a folder of this user's";

Status make_folder(const std::string& path, mode_t mode, const char* key) {
  std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  // "folder/" has no file name; its parent is the folder itself.
  if (!folder.has_filename()) folder = folder.parent_path();
  std::error_code error;
  // The parents with the usual mode; errors show at mkdir.
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return Status();
  return errno_status(errno, path + ": cannot be made; set " + key + " to a folder of this user's");
}

// For a folder that may have existed before: in /tmp, another user can create the name first.
// By the open descriptor: the name could lead to another folder a moment later.
Status check_trusted(int folder, const std::string& path) {
  struct stat found {};
  if (::fstat(folder, &found) != 0) return errno_status(errno, path);
  // Root could change the content anyway.
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

// Another daemon may be about to end: a restart must not fail because the old process is a moment
// late.
Status lock(int folder, const std::string& path) {
  const std::uint64_t give_up_ns = monotonic_ns() + kPatienceNs;
  // Tried at once, then again and again; one line in the log.
  for (bool logged = false; ::flock(folder, LOCK_EX | LOCK_NB) != 0; logged = true) {
    if (errno != EWOULDBLOCK) return errno_status(errno, path);
    if (!logged) {
      log_info("main", "{} is in use by another daemon; waiting up to 10 s for its end", path);
    }
    if (monotonic_ns() >= give_up_ns) {
      return Status(Code::kAlreadyExists,
                    path +
                        " is in use by another daemon; stop it, or set daemon.runtime_dir to "
                        "another folder");
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return Status();
}

}  // namespace

Result<RuntimeDir> RuntimeDir::open(const std::string& path) {
  const bool root = ::geteuid() == 0;
  ECHOLINE_TRY(make_folder(path, root ? 0750 : 0700, "daemon.runtime_dir"));
  // Open before it is checked: what is checked is what is locked.
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno_status(errno, path + kRemedy);
  ECHOLINE_TRY(check_trusted(folder.get(), path));
  ECHOLINE_TRY(lock(folder.get(), path));
  return RuntimeDir(std::move(folder));
}

Status make_state_dir(const std::string& path) {
  ECHOLINE_TRY(make_folder(path, 0750, "daemon.state_dir"));
  // Readable is enough to use indexes that are there.
  if (::access(path.c_str(), W_OK | X_OK) == 0) return Status();
  const Status denied = errno_status(errno, path + ": cannot be written to");
  if (::access(path.c_str(), R_OK | X_OK) != 0) {
    return errno_status(errno, path +
                                   ": cannot be read; set daemon.state_dir to a folder of this "
                                   "user's");
  }
  log_warning("main", "{}: the indexes in it are used, and no new one is kept (daemon.state_dir)",
              denied.message());
  return Status();
}

}  // namespace echoline::serve
