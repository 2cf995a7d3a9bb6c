// A proxy that makes a local server look distant: it delays the first byte of each answer and
// limits the rate of each connection. Bytes go from socket to socket inside the kernel, so that the
// proxy costs little CPU.
//
//     shaper HOST PORT LATENCY_MS BYTES_PER_S [SHARE:MS]... [all:BYTES_PER_S]    (0: no limit)
//
// A random SHARE of the answers gets the latency MS instead; `all` limits the sum of all
// connections. Prints its port; ends with its parent.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace {

using echoline::monotonic_ns;
using echoline::UniqueFd;

constexpr std::size_t kBurstBytes = 256 << 10;  // may pass at once

struct Tail {
  double share = 0;
  std::uint64_t latency_ns = 0;
};

struct Shape {
  sockaddr_in server{};
  std::uint64_t latency_ns = 0;
  double rate = 0;
  double rate_of_all = 0;
  std::vector<Tail> tails;
};

std::uint64_t to_ns(const char* ms) { return static_cast<std::uint64_t>(std::atof(ms) * 1e6); }

// A client's connection and the matching one to the server.
struct Pair {
  UniqueFd client, server, pipe_in, pipe_out;
  std::size_t piped = 0;
  std::uint64_t not_before_ns = 0;  // earliest time of the answer's next bytes
  bool timed = false;               // waits for not_before_ns
};

class Shaper {
 public:
  explicit Shaper(const Shape& shape) : shape_(shape), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  int listen() {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener_.get(), 1024) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return 0;
    watch(listener_.get());
    return ntohs(address.sin_port);
  }

  [[noreturn]] void run() {
    std::vector<epoll_event> events(256);
    for (;;) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), 256, timeout_ms());
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_.get()) {
          accept_all();
        } else if (const auto found = pairs_.find(fd); found != pairs_.end()) {
          move(found->second);
        }
      }
      while (!due_.empty() && due_.begin()->first <= monotonic_ns()) {
        const std::shared_ptr<Pair> pair = due_.begin()->second.lock();
        due_.erase(due_.begin());
        if (pair == nullptr) continue;
        pair->timed = false;
        move(pair);
      }
    }
  }

 private:
  int timeout_ms() const {
    if (due_.empty()) return -1;
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t due = due_.begin()->first;
    return due > now ? static_cast<int>((due - now) / 1'000'000 + 1) : 0;
  }

  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.fd = fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all() {
    for (;;) {
      auto pair = std::make_shared<Pair>();
      pair->client =
          UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!pair->client) return;
      pair->server = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      int ends[2];
      if (::connect(pair->server.get(), reinterpret_cast<const sockaddr*>(&shape_.server),
                    sizeof shape_.server) != 0 ||
          ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        continue;
      pair->pipe_out = UniqueFd(ends[0]);
      pair->pipe_in = UniqueFd(ends[1]);
      ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kBurstBytes));
      ::fcntl(pair->server.get(), F_SETFL, O_NONBLOCK);
      const int on = 1;
      for (const int fd : {pair->client.get(), pair->server.get()}) {
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pairs_[fd] = pair;
        watch(fd);
      }
    }
  }

  void move(std::shared_ptr<Pair> pair) {
    if (requests(*pair) && answers(pair)) return;
    pairs_.erase(pair->client.get());
    pairs_.erase(pair->server.get());
  }

  // Forwards requests without delay, because they are small; false at the end.
  bool requests(Pair& pair) {
    char bytes[16 << 10];
    for (;;) {
      const ssize_t got = ::read(pair.client.get(), bytes, sizeof bytes);
      if (got < 0) return errno == EAGAIN;
      if (got == 0 || ::write(pair.server.get(), bytes, static_cast<std::size_t>(got)) != got)
        return false;
      pair.not_before_ns = std::max(pair.not_before_ns, monotonic_ns() + draw_latency_ns());
    }
  }

  std::uint64_t draw_latency_ns() {
    double chance = std::uniform_real_distribution<double>()(random_);
    for (const Tail& tail : shape_.tails) {
      if (chance < tail.share) return tail.latency_ns;
      chance -= tail.share;
    }
    return shape_.latency_ns;
  }

  bool answers(const std::shared_ptr<Pair>& shared) {
    Pair& pair = *shared;
    for (;;) {
      const std::uint64_t now = monotonic_ns();
      if (now < pair.not_before_ns) {
        if (!pair.timed) due_.emplace(pair.not_before_ns, shared);
        pair.timed = true;
        return true;
      }
      if (pair.piped == 0) {
        const ssize_t got = ::splice(pair.server.get(), nullptr, pair.pipe_in.get(), nullptr,
                                     kBurstBytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (got == 0) return false;
        if (got < 0) return errno == EAGAIN;
        pair.piped = static_cast<std::size_t>(got);
      }
      const ssize_t put = ::splice(pair.pipe_out.get(), nullptr, pair.client.get(), nullptr,
                                   pair.piped, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (put < 0) return errno == EAGAIN;
      pair.piped -= static_cast<std::size_t>(put);
      pay(pair.not_before_ns, shape_.rate, put, now);
      pay(all_not_before_ns_, shape_.rate_of_all, put, now);
      pair.not_before_ns = std::max(pair.not_before_ns, all_not_before_ns_);
    }
  }

  // Delays the next bytes by the time that these take at the rate. A delay may be made up for, but
  // by at most one burst.
  static void pay(std::uint64_t& not_before_ns, double rate, ssize_t bytes, std::uint64_t now) {
    if (rate <= 0) return;
    const auto burst_ns = static_cast<std::uint64_t>(kBurstBytes / rate * 1e9);
    not_before_ns = std::max(not_before_ns, now - std::min(now, burst_ns)) +
                    static_cast<std::uint64_t>(static_cast<double>(bytes) / rate * 1e9);
  }

  const Shape shape_;
  std::mt19937_64 random_;
  std::uint64_t all_not_before_ns_ = 0;
  const UniqueFd epoll_;
  UniqueFd listener_;
  std::unordered_map<int, std::shared_ptr<Pair>> pairs_;
  std::multimap<std::uint64_t, std::weak_ptr<Pair>> due_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fputs("usage: shaper HOST PORT LATENCY_MS BYTES_PER_S [SHARE:MS]... [all:BYTES_PER_S]\n",
               stderr);
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGPIPE, SIG_IGN);
  Shape shape;
  shape.server.sin_family = AF_INET;
  shape.server.sin_port = htons(static_cast<std::uint16_t>(std::atoi(words[2])));
  ::inet_pton(AF_INET, words[1], &shape.server.sin_addr);
  shape.latency_ns = to_ns(words[3]);
  shape.rate = std::atof(words[4]);
  for (int i = 5; i < count; ++i) {
    const char* colon = std::strchr(words[i], ':');
    if (colon == nullptr) continue;
    if (std::strncmp(words[i], "all:", 4) == 0) {
      shape.rate_of_all = std::atof(colon + 1);
    } else {
      shape.tails.push_back({std::atof(words[i]), to_ns(colon + 1)});
    }
  }
  Shaper shaper(shape);
  const int port = shaper.listen();
  if (port == 0) return 1;
  std::printf("%d\n", port);
  std::fflush(stdout);
  shaper.run();
}
