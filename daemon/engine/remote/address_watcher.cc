#include "engine/remote/address_watcher.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/log.h"
#include "engine/runtime/worker_pool.h"

namespace echoline::engine {
namespace {

// A new server is used after this time at the latest. Names of a cluster live about as long.
constexpr auto kInterval = std::chrono::seconds(5);
constexpr std::size_t kAddressesMax = 1024;

struct Free {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

}  // namespace

Result<std::vector<ServerAddress>> resolve_server(const std::string& server) {
  const std::size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  const std::string port = server.substr(colon + 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // Only addresses of a kind that this host has, too.
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &first); error != 0) {
    return Status(Code::kNotFound,
                  fmt::format("there is no host '{}' ({})", host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, Free> list(first);
  std::vector<ServerAddress> found;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    char text[NI_MAXHOST] = "";
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    found.push_back({one->ai_family == AF_INET6 ? fmt::format("ipv6:[{}]:{}", text, port)
                                                : fmt::format("ipv4:{}:{}", text, port),
                     host});
  }
  return found;
}

AddressWatcher::AddressWatcher(std::vector<std::string> servers)
    : servers_(std::move(servers)), found_(servers_.size()) {
  resolve();
  thread_ = std::thread([this] { run(); });
}

AddressWatcher::~AddressWatcher() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AddressWatcher::run() {
  name_thread("prepare-names");
  while (true) {
    {
      MutexLock lock(mutex_);
      const auto until = std::chrono::steady_clock::now() + kInterval;
      while (!stopping_ && std::chrono::steady_clock::now() < until) {
        changed_.wait_until(lock, until);
      }
      if (stopping_) return;
    }
    resolve();
  }
}

void AddressWatcher::resolve() {
  std::vector<ServerAddress> all;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Result<std::vector<ServerAddress>> now = resolve_server(servers_[i]);
    if (now.ok() && !now->empty()) found_[i] = std::move(*now);
    all.insert(all.end(), found_[i].begin(), found_[i].end());
  }
  std::ranges::sort(all, {}, &ServerAddress::target);
  all.erase(
      std::unique(all.begin(), all.end(),
                  [](const auto& one, const auto& other) { return one.target == other.target; }),
      all.end());
  if (all.size() > kAddressesMax) all.resize(kAddressesMax);
  const MutexLock lock(mutex_);
  if (all == addresses_) return;
  addresses_ = std::move(all);
  ++version_;
}

std::vector<ServerAddress> AddressWatcher::addresses() const {
  const MutexLock lock(mutex_);
  return addresses_;
}

std::uint64_t AddressWatcher::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

}  // namespace echoline::engine
