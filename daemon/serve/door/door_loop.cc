#include "serve/door/door_loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "serve/door/door_codec.h"

namespace echoline::serve {
namespace {

// Keys of epoll below the connections' ids.
constexpr std::uint64_t kListenerKey = 0;
constexpr std::uint64_t kOutboxKey = 1;
constexpr std::uint64_t kFirstId = 2;
// Then the others get their turn.
constexpr int kAcceptsMax = 256;
constexpr std::uint64_t kPauseNs = 100'000'000;
constexpr std::uint64_t kIdleNs = 200'000'000;

std::span<const std::byte> bytes_of(const auto& message) {
  return std::as_bytes(std::span(&message, 1));
}

}  // namespace

Result<std::unique_ptr<DoorLoop>> DoorLoop::create(DoorAddress address,
                                                   engine::AttachHandler& handler,
                                                   std::shared_ptr<DoorOutbox> outbox) {
  std::unique_ptr<DoorLoop> loop(new DoorLoop(std::move(address), handler, std::move(outbox)));
  loop->epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_) return errno_status(errno, "making an epoll");
  ECHOLINE_TRY(loop->watch(loop->address_.listener(), kListenerKey, EPOLLIN, EPOLL_CTL_ADD));
  ECHOLINE_TRY(loop->watch(loop->outbox_->event(), kOutboxKey, EPOLLIN, EPOLL_CTL_ADD));
  return loop;
}

DoorLoop::DoorLoop(DoorAddress address, engine::AttachHandler& handler,
                   std::shared_ptr<DoorOutbox> outbox)
    : address_(std::move(address)),
      handler_(handler),
      outbox_(std::move(outbox)),
      next_id_(kFirstId) {}

Status DoorLoop::watch(int fd, std::uint64_t key, std::uint32_t events, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0)
    return errno_status(errno, "watching a socket");
  return {};
}

void DoorLoop::run() {
  std::array<epoll_event, 64> events{};
  while (!outbox_->stopping()) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 timeout_ms(monotonic_ns()));
    const std::uint64_t now_ns = monotonic_ns();
    for (int i = 0; i < count; ++i) serve(events[static_cast<std::size_t>(i)].data.u64, now_ns);
    expire(now_ns);
    rounds_.fetch_add(1, std::memory_order_relaxed);
  }
  deliver();
  outbox_->close();
  while (!connections_.empty()) close(connections_.begin()->first);
}

void DoorLoop::serve(std::uint64_t key, std::uint64_t now_ns) {
  if (key == kListenerKey) {
    accept_all(now_ns);
  } else if (key == kOutboxKey) {
    deliver();
  } else {
    hear(key);
  }
}

int DoorLoop::timeout_ms(std::uint64_t now_ns) const {
  std::uint64_t next = now_ns + kIdleNs;
  if (paused_until_ns_ != 0) next = std::min(next, paused_until_ns_);
  // In order of arrival, so the first that has said nothing is the first to be put out.
  for (const auto& [id, connection] : connections_) {
    if (connection.standing != ConnectionState::kArrived) continue;
    next = std::min(next, connection.deadline_ns);
    break;
  }
  return next <= now_ns ? 0 : static_cast<int>((next - now_ns) / 1'000'000 + 1);
}

void DoorLoop::accept_all(std::uint64_t now_ns) {
  if (leaving_) return stop_accepting();
  for (int i = 0; i < kAcceptsMax; ++i) {
    UniqueFd socket(accept4(address_.listener(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      admit(std::move(socket), now_ns);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return pause_accepting(errno, now_ns);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// Out of descriptors: the listener would stay readable and epoll would spin. It is left alone for a
// moment.
void DoorLoop::pause_accepting(int error, std::uint64_t now_ns) {
  if (pauses_told_.due(now_ns)) {
    log_warning("door", "{}; trainers wait, {} are connected",
                errno_status(error, "accepting").message(), connections_.size());
  }
  paused_until_ns_ = now_ns + kPauseNs;
  stop_accepting();
}

void DoorLoop::stop_accepting() {
  const Status stopped = watch(address_.listener(), kListenerKey, 0, EPOLL_CTL_MOD);
  if (!stopped.ok()) log_error("door", "{}", stopped.message());
}

void DoorLoop::admit(UniqueFd socket, std::uint64_t now_ns) {
  const Result<engine::Peer> peer = peer_of(socket.get());
  if (!peer.ok()) return;
  make_room_for_newcomer();
  const std::uint64_t id = next_id_++;
  Connection connection{std::move(socket), peer.value(), ConnectionState::kArrived,
                        now_ns + kHandshakeNs};
  if (!watch(connection.socket.get(), id, EPOLLIN | EPOLLRDHUP, EPOLL_CTL_ADD).ok()) return;
  connections_.emplace(id, std::move(connection));
  count_.store(connections_.size(), std::memory_order_relaxed);
  if (connections_.size() > kConnectionsMax)
    refuse(id, Status(Code::kResourceExhausted,
                      "the door has as many trainers as it can hold; detach some"));
}

void DoorLoop::make_room_for_newcomer() {
  std::map<uid_t, std::size_t> arrived;
  std::size_t sum = 0;
  for (const auto& [id, connection] : connections_) {
    if (connection.standing != ConnectionState::kArrived) continue;
    ++arrived[connection.peer.uid];
    ++sum;
  }
  if (sum < kArrivedMax) return;
  const auto busiest =
      std::max_element(arrived.begin(), arrived.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest =
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
        return entry.second.standing == ConnectionState::kArrived &&
               entry.second.peer.uid == busiest->first;
      });
  // It may have spoken just now: then it is served, not put out.
  const std::uint64_t id = oldest->first;
  hear(id);
  const auto still = connections_.find(id);
  if (still != connections_.end() && still->second.standing == ConnectionState::kArrived) close(id);
}

void DoorLoop::expire(std::uint64_t now_ns) {
  if (paused_until_ns_ != 0 && paused_until_ns_ <= now_ns &&
      watch(address_.listener(), kListenerKey, EPOLLIN, EPOLL_CTL_MOD).ok())
    paused_until_ns_ = 0;
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto& [id, connection] = *next++;
    if (connection.standing != ConnectionState::kArrived) continue;
    if (connection.deadline_ns > now_ns) return;
    refuse(id, Status(Code::kDeadlineExceeded, "no attach request within 5 s of connecting"));
  }
}

void DoorLoop::refuse(std::uint64_t id, const Status& why) {
  Connection& connection = connections_.at(id);
  const shm::AttachReply reply = make_reply(why);
  // It may be gone already; then it needs no reason.
  (void)send_bytes(connection.socket.get(), bytes_of(reply));
  discard_input(connection.socket.get());
  connection.standing = ConnectionState::kArrived;
  close(id);
}

void DoorLoop::close(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const bool known = found->second.standing != ConnectionState::kArrived;
  connections_.erase(found);
  count_.store(connections_.size(), std::memory_order_relaxed);
  if (known) handler_.withdraw(id);
}

}  // namespace echoline::serve
