#include "serve/door/door_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "serve/door/door_codec.h"

namespace echoline::serve {
namespace {

// Bounds the time that a hostile peer can take.
constexpr int kDiscardedMax = 64;
constexpr std::size_t kGroupsUsual = 64;

Status send_message(int socket, msghdr& message) {
  // MSG_NOSIGNAL: a closed peer is an error, no SIGPIPE. MSG_DONTWAIT: the door serves all others.
  while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    return errno_status(errno, "sending to a trainer");
  }
  return {};
}

Result<std::vector<gid_t>> groups_of(int socket) {
  // Room for the usual number: emulators such as QEMU do not say how much is needed.
  std::vector<gid_t> groups(kGroupsUsual);
  socklen_t bytes = kGroupsUsual * sizeof(gid_t);
  // ERANGE sets `bytes` to the size that is needed.
  while (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) {
    if (errno != ERANGE || bytes <= groups.size() * sizeof(gid_t))
      return errno_status(errno, "reading the groups of a peer");
    groups.resize(bytes / sizeof(gid_t));
  }
  groups.resize(bytes / sizeof(gid_t));
  return groups;
}

}  // namespace

Result<engine::Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  // As they were when the peer connected.
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return errno_status(errno, "reading the credentials of a peer");
  ECHOLINE_ASSIGN(std::vector<gid_t> groups, groups_of(socket));
  return engine::Peer{credentials.uid, credentials.gid, credentials.pid, std::move(groups)};
}

Received receive(int socket, std::span<std::byte> buffer) {
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ssize_t bytes = 0;
  do {
    // Without room for control data: descriptors that come are closed by the kernel.
    bytes = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
  // 0: the peer has closed. An error is treated in the same way.
  if (bytes <= 0) return {Received::kClosed, 0};
  // Control data was cut: there were descriptors.
  if ((message.msg_flags & MSG_CTRUNC) != 0) return {Received::kDescriptors, 0};
  return {Received::kMessage, static_cast<std::size_t>(bytes)};
}

Status send_grant(int socket, const Grant& grant) {
  shm::AttachReply reply = make_reply(grant.reply);
  const std::array<int, 2> descriptors{grant.data.get(), grant.cursor.get()};
  // Aligned as the kernel expects it.
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof descriptors)> control{};
  iovec part{&reply, sizeof reply};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  return send_message(socket, message);
}

Status send_bytes(int socket, std::span<const std::byte> bytes) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return send_message(socket, message);
}

void discard_input(int socket) {
  std::array<std::byte, 1> byte{};
  for (int i = 0; i < kDiscardedMax; ++i) {
    const Received::Kind kind = receive(socket, byte).kind;
    if (kind == Received::kNothing || kind == Received::kClosed) return;
  }
}

}  // namespace echoline::serve
