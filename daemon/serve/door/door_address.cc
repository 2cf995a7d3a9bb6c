#include "serve/door/door_address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "serve/door/door_inherited.h"
#include "serve/door/unix_listener.h"

namespace echoline::serve {
namespace {

// The group decides who may connect; the engine checks the stream's access list, too.
constexpr mode_t kSocketMode = 0660;
constexpr mode_t kLockMode = 0600;

std::string lock_path(const std::string& path) { return path + ".lock"; }

// The process id that the holder has written; it may not be there yet.
std::string holder_of(int lock) {
  char text[32]{};
  const ssize_t bytes = pread(lock, text, sizeof text - 1, 0);
  return bytes > 0 ? fmt::format("another daemon (process {})", text) : "another daemon";
}

// By device and inode: the name may belong to a newer file.
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
      if (errno == EWOULDBLOCK) {
        return Status(Code::kAlreadyExists,
                      fmt::format("{} is served by {}; stop it, or set daemon.runtime_dir to "
                                  "another folder",
                                  path, holder_of(lock.get())));
      }
      return errno_status(errno, name);
    }
    // Another daemon ended between our open and our lock and removed the file: we hold a lock on a
    // deleted file, which excludes nobody. Try again.
    if (!same_file(lock.get(), name)) continue;
    // Ours: only now the file may be changed.
    const std::string pid = std::to_string(getpid());
    // For the message of a second daemon.
    if (ftruncate(lock.get(), 0) != 0 || pwrite(lock.get(), pid.data(), pid.size(), 0) < 0)
      return errno_status(errno, name);
    return lock;
  }
}

}  // namespace

Result<DoorAddress> DoorAddress::take(const std::string& path) {
  ECHOLINE_TRY(check_socket_path(path));
  DoorAddress address;
  // First the lock: only its holder may remove the socket of a dead daemon.
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
  ECHOLINE_ASSIGN(listener_, listen_unix(path, SOCK_SEQPACKET, kSocketMode));
  bound_ = true;
  struct stat status {};
  // Noted, so that the destructor removes only this file.
  if (lstat(path.c_str(), &status) != 0) return errno_status(errno, path);
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
  // Moved from.
  if (path_.empty()) return;
  struct stat status {};
  if (bound_ && lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_)
    unlink(path_.c_str());
  // Still locked here, so that a daemon that has opened the file sees that it is deleted.
  unlink(lock_path(path_).c_str());
}

}  // namespace echoline::serve
