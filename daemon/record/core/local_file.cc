// Plain system calls, because streams would lose the errno.
#include "record/core/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace echoline::record {

std::optional<std::string> local_path(std::string_view url) {
  // "file:///a" has an empty host.
  if (url.starts_with("file://")) return std::string(url.substr(7));
  if (url.starts_with("file:")) return std::string(url.substr(5));
  if (url.find("://") != std::string_view::npos) return std::nullopt;
  return std::string(url);
}

Result<std::string> read_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return errno_status(errno, "cannot open " + path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_status(errno, "cannot stat " + path);
  // A folder or a device has no content of a known size.
  if (!S_ISREG(info.st_mode)) return Status(Code::kInvalidArgument, path + " is not a file");
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_status(errno, "cannot read " + path);
    // The file became shorter meanwhile.
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

}  // namespace echoline::record
