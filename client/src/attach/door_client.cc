#include "attach/door_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace echoline::client {
namespace {

// The daemon uses the numbers of echoline_status up to INTERNAL.
echoline_status status_of_daemon(std::uint32_t code) {
  // Numbers that this library does not know become INTERNAL.
  return code <= ECHOLINE_INTERNAL ? static_cast<echoline_status>(code) : ECHOLINE_INTERNAL;
}

Error check_answer(const shm::AttachReply& reply, std::size_t bytes) {
  // Another server may listen at the path.
  if (bytes < sizeof(reply) || reply.magic != shm::kDoorMagic) {
    return {ECHOLINE_VERSION_MISMATCH,
            "what listens on the door's socket doesn't speak Echoline's protocol; check the "
            "runtime folder"};
  }
  if (reply.door_major != shm::kDoorMajor) {
    return {ECHOLINE_VERSION_MISMATCH,
            "the daemon's door has version " + std::to_string(reply.door_major) + "." +
                std::to_string(reply.door_minor) + ", this client library speaks " +
                std::to_string(shm::kDoorMajor) + "." + std::to_string(shm::kDoorMinor) +
                "; install the client library of the daemon's version"};
  }
  if (reply.code != 0) {
    std::string text(shm::text(reply.message));
    if (text.empty()) text = "the daemon refused to attach";
    return {status_of_daemon(reply.code), std::move(text)};
  }
  if (reply.change_count > shm::kFactorChangesMax) {
    return {ECHOLINE_DATA_LOSS, "the daemon's answer is not valid: its list of factors"};
  }
  return {};
}

// Takes the file descriptors out of a received message: first the ring's memory, then the cursor
// page. Closes surplus ones: the kernel has already installed them in this process.
void take_descriptors(msghdr& message, AttachGrant& grant, const NoFork& no_fork) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      GuardedFd& owner = i == 0 ? *grant.data_fd : grant.cursor_fd;
      if (i < 2 && owner.get() < 0) {
        owner.take(number, no_fork);
      } else {
        close(number);
      }
    }
  }
}

// False if the path is too long for an address.
bool make_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

// Advice after a failed connect.
std::string next_step(int code) {
  if (code == ECHOLINE_PERMISSION_DENIED) {
    return "; this user may not reach the door: make it a member of the folder's group";
  }
  return "; start echolined, or name its folder by runtime_dir or ECHOLINE_RUNTIME_DIR";
}

std::atomic<DoorClient*> left_open{nullptr};

}  // namespace

void DoorClient::leave_open(std::shared_ptr<DoorClient> door) {
  // A lock-free push to a list that is never read: it only keeps the objects reachable.
  DoorClient& one = *door;
  one.self_ = std::move(door);
  one.next_left_open_ = left_open.exchange(&one);
}

Error DoorClient::connect(const std::string& runtime_dir, const AttachOptions& options,
                          std::unique_ptr<DoorClient>& door) {
  const std::string path = runtime_dir + "/door.sock";
  sockaddr_un address;
  if (!make_address(path, address)) {
    return {ECHOLINE_INVALID_ARGUMENT, "the door's path " + path + " is longer than " +
                                           std::to_string(sizeof(address.sun_path) - 1) +
                                           " bytes; choose a shorter runtime folder"};
  }
  auto made = std::make_unique<DoorClient>();
  {
    // Held until the descriptor is stored, so that no fork can copy it unnoticed.
    const NoFork no_fork;
    made->socket_.take(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), no_fork);
  }
  const int fd = made->socket_.get();
  if (fd < 0) return errno_error(errno, "can't create a socket");
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int number = errno;
    if (number == EAGAIN) {  // the queue of the listening socket is full
      return {ECHOLINE_UNAVAILABLE, "too many trainers connect to " + path + " at the same time"};
    }
    const Error e = errno_error(number, "no daemon answers at " + path);
    return {e.code(), e.text() + next_step(e.code())};
  }
  const shm::AttachRequest request = to_request(options);
  // A message on this kind of socket is sent whole or not at all.
  const std::size_t bytes = bytes_of(request);
  if (send(fd, &request, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) {
    return errno_error(errno, "can't send the request to attach to " + path);
  }
  door = std::move(made);
  return {};
}

bool DoorClient::poll_answer(AttachGrant& grant, Error& error) {
  Received received = Received::kProgress;
  while (received == Received::kProgress) received = receive_answer(grant, error);
  return received == Received::kAnswer;
}

DoorClient::Received DoorClient::receive_answer(AttachGrant& grant, Error& error) {
  iovec part{&grant.reply, sizeof(grant.reply)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = 0;
  // A fork between receiving the descriptors and storing them would leave copies in the child.
  {
    const NoFork no_fork;
    got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got > 0) take_descriptors(message, grant, no_fork);
  }
  // Not there yet.
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Received::kNothing;
  if (got <= 0) {  // 0: closed by the daemon
    error = {ECHOLINE_UNAVAILABLE, "the daemon closed the door before it answered"};
    return Received::kAnswer;
  }
  if (got == sizeof(shm::Notice)) {  // an answer is longer
    shm::Notice notice;
    std::memcpy(&notice, &grant.reply, sizeof(notice));
    if (notice.magic == shm::kDoorMagic) {
      if (notice.kind == shm::kNoticeOpening) progress_ = std::string(shm::text(notice.message));
      return Received::kProgress;
    }
  }
  // A reply without descriptors: the kernel drops them if this process has too many open files.
  error = check_answer(grant.reply, static_cast<std::size_t>(got));
  if (error.ok() && (grant.data_fd->get() < 0 || grant.cursor_fd.get() < 0)) {
    error = {ECHOLINE_RESOURCE_EXHAUSTED,
             "the daemon's answer came without its memory; raise the limit of open files"};
  }
  return Received::kAnswer;
}

void DoorClient::wait(int timeout_ms) const {
  pollfd item{socket_.get(), POLLIN, 0};
  poll(&item, 1, timeout_ms);
}

bool DoorClient::poll_alive() {
  shm::Notice notice{};
  // Read until the socket is empty. Notices of another size or magic are ignored: a later release
  // may send them.
  while (!gone_) {
    const ssize_t got = recv(socket_.get(), &notice, sizeof(notice), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      gone_ = true;
    } else if (got == sizeof(notice) && notice.magic == shm::kDoorMagic) {
      handle_notice(notice);
    }
  }
  return false;
}

void DoorClient::handle_notice(const shm::Notice& notice) {
  const std::string text(shm::text(notice.message));
  if (notice.kind == shm::kNoticeMoved) {
    moved_ = true;
  } else if (notice.kind == shm::kNoticeText) {
    news_.push_back(text);
  } else if (!verdict_) {  // the first one counts
    set_verdict(notice, text);
  }
}

void DoorClient::set_verdict(const shm::Notice& notice, const std::string& text) {
  if (notice.kind == shm::kNoticeDetached) {
    verdict_ = Error(ECHOLINE_DETACHED, "the daemon took this trainer off: " + text);
  } else if (notice.kind == shm::kNoticeFailed) {
    const echoline_status code = status_of_daemon(notice.code);
    verdict_ = Error(code == ECHOLINE_OK ? ECHOLINE_INTERNAL : code, "the stream failed: " + text);
  }
}

}  // namespace echoline::client
