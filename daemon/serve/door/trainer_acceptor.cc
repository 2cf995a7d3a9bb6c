#include "serve/door/trainer_acceptor.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace echoline::serve {
namespace {

// Connections accepted in one round, so that attached trainers are served in between.
constexpr int kAcceptsMax = 256;
constexpr std::uint64_t kPauseNs = 100'000'000;

bool out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Status TrainerAcceptor::start() const { return epoll_.add(address_.listener(), key_, EPOLLIN); }

void TrainerAcceptor::accept_ready(std::uint64_t now_ns) {
  // The socket outlives this daemon: the next one accepts them.
  if (leaving_) return stop_listening();
  for (int i = 0; i < kAcceptsMax; ++i) {
    UniqueFd socket(accept4(address_.listener(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      admit(std::move(socket), now_ns);
    } else if (out_of_resources(errno)) {
      return pause(errno, now_ns);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      // EAGAIN: all are accepted. Other errors are looked at again when the listener is ready.
      return;
    }
  }
}

// Without a free descriptor the listener stays readable, and epoll would return at once forever. So
// the listener is not watched for a moment.
void TrainerAcceptor::pause(int error, std::uint64_t now_ns) {
  if (pause_log_.due(now_ns)) {
    log_warning("door", "{}; trainers wait, {} are connected",
                errno_status(error, "accepting").message(), connections_.count());
  }
  resume_at_ns_ = now_ns + kPauseNs;
  stop_listening();
}

void TrainerAcceptor::resume(std::uint64_t now_ns) {
  if (resume_at_ns_ && *resume_at_ns_ <= now_ns &&
      // If watching fails, the next round tries again.
      epoll_.change(address_.listener(), key_, EPOLLIN).ok())
    resume_at_ns_.reset();
}

void TrainerAcceptor::stop_listening() {
  const Status stopped = epoll_.change(address_.listener(), key_, 0);
  if (!stopped.ok()) log_error("door", "{}", stopped.message());
}

void TrainerAcceptor::admit(UniqueFd socket, std::uint64_t now_ns) {
  Result<engine::Peer> peer = peer_of(socket.get());
  // It has left already.
  if (!peer.ok()) return;
  evict_if_full();
  const int fd = socket.get();
  const std::uint64_t id =
      connections_.add(std::move(socket), std::move(peer).value(), now_ns + kHandshakeNs);
  // EPOLLRDHUP: also a peer that only shuts down its side.
  if (!epoll_.add(fd, id, EPOLLIN | EPOLLRDHUP).ok()) return connections_.close(id);
  if (connections_.too_many())
    connections_.refuse(id, Status(Code::kResourceExhausted,
                                   "the door has as many trainers as it can hold; detach some"));
}

void TrainerAcceptor::evict_if_full() {
  const auto id = connections_.to_evict();
  if (!id) return;
  // Its request may have arrived in this moment: then it is served instead.
  messages_.read(*id);
  const Connection* connection = connections_.find(*id);
  if (connection != nullptr && connection->state == ConnectionState::kAwaitingRequest)
    connections_.close(*id);
}

}  // namespace echoline::serve
