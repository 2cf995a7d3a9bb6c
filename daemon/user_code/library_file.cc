#include "user_code/library_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <span>
#include <vector>

#include "base/hex.h"

namespace echoline::user_code {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

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
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  std::vector<std::byte> bytes(kReadBytes);
  while (true) {
    const ssize_t count = ::read(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, path_);
    if (count == 0) break;
    XXH3_128bits_update(state.get(), bytes.data(), static_cast<std::size_t>(count));
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  hash_ = to_hex(std::as_bytes(std::span(canonical.digest)));
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
