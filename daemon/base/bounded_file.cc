#include "base/bounded_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace echoline {

Result<std::string> read_bounded_file(const std::string& path, std::size_t bytes_max) {
  // Non-blocking, because opening a pipe waits for its other end.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return errno_status(errno, path);
  if (!S_ISREG(found.st_mode)) {
    return Status(Code::kInvalidArgument, path + ": is no regular file");
  }
  std::string text(bytes_max + 1, '\0');
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + bytes, text.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_status(errno, path);
    if (got == 0) break;
    bytes += static_cast<std::size_t>(got);
  }
  if (bytes > bytes_max) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: has more than {} bytes", path, bytes_max));
  }
  text.resize(bytes);
  return text;
}

}  // namespace echoline
