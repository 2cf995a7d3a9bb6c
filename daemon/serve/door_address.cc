#include "serve/door_address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "serve/door_inherited.h"

namespace echoline::serve {
namespace {

constexpr mode_t kSocketMode = 0660;
constexpr mode_t kLockMode = 0600;
constexpr int kBacklog = 256;

std::string lock_path(const std::string& path) { return path + ".lock"; }

Status occupied(const std::string& path, const std::string& whose) {
  return Status(
      Code::kAlreadyExists,
      fmt::format("{} is served by {}; stop it, or give this daemon another runtime folder", path,
                  whose));
}

std::string holder_of(int lock) {
  char text[32]{};
  const ssize_t bytes = pread(lock, text, sizeof text - 1, 0);
  return bytes > 0 ? fmt::format("another daemon (process {})", text) : "another daemon";
}

bool same_file(int fd, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return fstat(fd, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

Result<UniqueFd> take_lock(const std::string& path) {
  const std::string name = lock_path(path);
  while (true) {
    UniqueFd lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kLockMode));
    if (!lock) return errno_status(errno, name);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return occupied(path, holder_of(lock.get()));
      return errno_status(errno, name);
    }
    // A daemon that went away in order removed the file between our open and our lock: ours is
    // nobody's name.
    if (!same_file(lock.get(), name)) continue;
    const std::string pid = std::to_string(getpid());
    if (ftruncate(lock.get(), 0) != 0 || pwrite(lock.get(), pid.data(), pid.size(), 0) < 0)
      return errno_status(errno, name);
    return lock;
  }
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Status(Code::kInvalidArgument,
                  fmt::format("socket path '{}' has {} bytes; 1 to {} are possible: choose a "
                              "shorter runtime folder",
                              path, path.size(), sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<UniqueFd> make_socket() {
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_status(errno, "making a socket");
  return fd;
}

// Removes the socket of a dead daemon. Beside the lock, connecting tells: a daemon of another kind
// may hold none.
Status clear_path(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0)
    return errno == ENOENT ? Status() : errno_status(errno, path);
  if (!S_ISSOCK(status.st_mode))
    return Status(Code::kAlreadyExists,
                  fmt::format("{} is no socket; it is not touched: move it away", path));
  ECHOLINE_ASSIGN(const UniqueFd probe, make_socket());
  const int rc = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (rc == 0 || errno == EAGAIN || errno == EPROTOTYPE)
    return occupied(path, "a process that holds no lock");
  if (errno != ECONNREFUSED) return errno_status(errno, path);
  if (unlink(path.c_str()) != 0) return errno_status(errno, path);
  return {};
}

}  // namespace

Result<DoorAddress> DoorAddress::take(const std::string& path) {
  ECHOLINE_TRY(address_of(path).status());
  DoorAddress address;
  ECHOLINE_ASSIGN(address.lock_, take_lock(path));
  address.path_ = path;
  if (door_is_inherited()) {
    ECHOLINE_ASSIGN(address.listener_, inherited_door(path));
    return address;
  }
  ECHOLINE_TRY(address.listen_at(path));
  return address;
}

Status DoorAddress::listen_at(const std::string& path) {
  ECHOLINE_ASSIGN(const sockaddr_un address, address_of(path));
  ECHOLINE_TRY(clear_path(path, address));
  ECHOLINE_ASSIGN(listener_, make_socket());
  // Before bind: from then on nobody finds the socket with a wider mode. After it: whatever the
  // umask was.
  if (fchmod(listener_.get(), kSocketMode) != 0 ||
      bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno_status(errno, path);
  bound_ = true;
  struct stat status {};
  if (chmod(path.c_str(), kSocketMode) != 0 || lstat(path.c_str(), &status) != 0 ||
      listen(listener_.get(), kBacklog) != 0)
    return errno_status(errno, path);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return {};
}

DoorAddress::DoorAddress(DoorAddress&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      listener_(std::move(other.listener_)),
      bound_(std::exchange(other.bound_, false)),
      device_(other.device_),
      inode_(other.inode_) {}

DoorAddress::~DoorAddress() {
  if (path_.empty()) return;
  struct stat status {};
  if (bound_ && lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_)
    unlink(path_.c_str());
  // While it is still locked: who opens it now finds out that it has no name any more.
  unlink(lock_path(path_).c_str());
}

}  // namespace echoline::serve
