// Uses system calls, because C++ streams lose the errno of an error.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/unique_fd.h"

namespace echoline {
namespace {

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_status(errno, "cannot write " + path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) return errno_status(errno, "cannot flush " + path);
  return {};
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view content, mode_t mode) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return errno_status(error.value(), "cannot make the folder of " + path);
  // A unique name, because several processes can write the same file. It keeps the file's
  // extension, so that code that lists the folder, also after a crash, recognizes it.
  const std::string kind = std::filesystem::path(path).extension();
  std::string temporary = path.substr(0, path.size() - kind.size()) + ".XXXXXX" + kind;
  UniqueFd fd(::mkostemps(temporary.data(), static_cast<int>(kind.size()), O_CLOEXEC));
  if (!fd) return errno_status(errno, "cannot make " + temporary);
  Status status = write_all(fd.get(), content, temporary);
  if (status.ok() && ::fchmod(fd.get(), mode) != 0) {
    status = errno_status(errno, "cannot set the mode of " + temporary);
  }
  fd.reset();
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = errno_status(errno, "cannot rename " + temporary);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

Status sync_folder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return errno_status(errno, "cannot flush " + path);
  return {};
}

}  // namespace echoline
