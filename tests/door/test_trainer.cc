#include "test_trainer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

namespace echoline::serve {

namespace fs = std::filesystem;

SocketFolder::SocketFolder() {
  std::string pattern = (fs::temp_directory_path() / "echoline_door_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no folder for sockets";
  folder_ = pattern;
}

SocketFolder::~SocketFolder() { fs::remove_all(folder_); }

std::vector<std::string> SocketFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename());
  return names;
}

void RecordingEngine::attach(std::uint64_t connection, const shm::AttachRequest& request,
                             const engine::Peer& peer, engine::ReplyFunction reply) {
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back({connection, request, peer});
    changed_.notify_all();
  }
  if (on_attach) return on_attach(connection, std::move(reply));
  // They close at the end of this call, so the door must have duplicated them.
  const UniqueFd data(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd cursor(open("/dev/zero", O_RDWR | O_CLOEXEC));
  engine::Attachment attachment;
  attachment.reply.batch_size = 256;
  attachment.reply.first_sequence = 7;
  attachment.data_fd = data.get();
  attachment.cursor_fd = cursor.get();
  reply(attachment);
}

void RecordingEngine::withdraw(std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  withdrawn_.push_back(connection);
  changed_.notify_all();
}

std::vector<RecordingEngine::Asked> RecordingEngine::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::vector<std::uint64_t> RecordingEngine::withdrawn() const {
  const std::lock_guard lock(mutex_);
  return withdrawn_;
}

bool RecordingEngine::wait_asked(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(kLongNs),
                           [&] { return asked_.size() >= count; });
}

bool RecordingEngine::wait_withdrawn(std::size_t count, std::uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                           [&] { return withdrawn_.size() >= count; });
}

shm::AttachRequest good_request(const std::string& stream) {
  shm::AttachRequest request{};
  request.magic = shm::kDoorMagic;
  request.door_major = shm::kDoorMajor;
  request.door_minor = shm::kDoorMinor;
  request.layout_major = shm::kLayoutMajor;
  request.layout_minor = shm::kLayoutMinor;
  std::memcpy(request.stream, stream.data(), stream.size());
  std::memcpy(request.job, "default", 7);
  request.world_size = 1;
  request.join = shm::kJoinStart;
  return request;
}

TestTrainer::TestTrainer(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  connected_ = socket_ && connect(fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool TestTrainer::send(const void* bytes, std::size_t count) const {
  return ::send(fd(), bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

bool TestTrainer::send_with_descriptors(const shm::AttachRequest& request, int count) const {
  std::vector<int> descriptors(static_cast<std::size_t>(count), fd());
  const std::size_t bytes = descriptors.size() * sizeof(int);
  std::vector<std::byte> control(CMSG_SPACE(bytes));
  iovec part{const_cast<shm::AttachRequest*>(&request), sizeof request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  return sendmsg(fd(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request);
}

TestTrainer::Received TestTrainer::receive(int timeout_ms) const {
  Received received;
  pollfd ready{fd(), POLLIN, 0};
  if (poll(&ready, 1, timeout_ms) != 1) {
    ADD_FAILURE() << "nothing received within " << timeout_ms << " ms";
    return received;
  }
  std::vector<std::byte> buffer(65536);
  alignas(cmsghdr) std::array<std::byte, 256> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t bytes = recvmsg(fd(), &message, MSG_CMSG_CLOEXEC);
  if (bytes <= 0) return received;
  buffer.resize(static_cast<std::size_t>(bytes));
  received.bytes = std::move(buffer);
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    const std::size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::vector<int> descriptors(count);
    std::memcpy(descriptors.data(), CMSG_DATA(h), count * sizeof(int));
    for (const int descriptor : descriptors) received.descriptors.emplace_back(descriptor);
  }
  return received;
}

}  // namespace echoline::serve
