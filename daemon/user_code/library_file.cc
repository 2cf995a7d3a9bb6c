#include "user_code/library_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <vector>

#include "base/content_hash.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

}  // namespace

Result<std::shared_ptr<const LibraryFile>> LibraryFile::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return errno_status(errno, path);
  std::shared_ptr<LibraryFile> file(new LibraryFile(path, std::move(fd)));
  ECHOLINE_TRY(file->read());
  return std::shared_ptr<const LibraryFile>(std::move(file));
}

Status LibraryFile::read() {
  if (::fstat(fd_.get(), &state_) != 0) return errno_status(errno, path_);
  if (!S_ISREG(state_.st_mode))
    return Status(Code::kInvalidArgument, path_ + ": not a file, and so no library");
  ContentHash hash;
  std::vector<std::byte> bytes(kReadBytes);
  while (true) {
    const ssize_t count = ::read(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, path_);
    if (count == 0) break;
    hash.add(std::span(bytes).first(static_cast<std::size_t>(count)));
  }
  hash_ = hash.digits();
  return {};
}

Result<UniqueFd> LibraryFile::unchanged() const {
  struct stat now {};
  if (::fstat(fd_.get(), &now) != 0) return errno_status(errno, path_);
  if (now.st_size != state_.st_size || now.st_mtim.tv_sec != state_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != state_.st_mtim.tv_nsec) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{} was overwritten since the stream was opened; put a new file in its "
                    "place instead (mv, install), and create the stream again",
                    path_));
  }
  UniqueFd copy(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) return errno_status(errno, path_);
  return copy;
}

}  // namespace echoline::user_code
