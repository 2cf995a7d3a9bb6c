// The addresses of preparation servers, resolved again and again: servers come and go.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace echoline::engine {

struct ServerAddress {
  std::string target;  // for gRPC, as "ipv4:10.0.0.7:9466"
  std::string host;    // as it was written: the name in its certificate
  bool operator==(const ServerAddress&) const = default;
};

// The addresses of host:port. kNotFound, with the resolver's reason.
Result<std::vector<ServerAddress>> resolve_server(const std::string& server);

// Resolves once when it is created, then on a thread of its own. Any thread may call addresses.
class AddressWatcher {
 public:
  // `servers`: host:port each.
  explicit AddressWatcher(std::vector<std::string> servers);
  ~AddressWatcher();
  AddressWatcher(const AddressWatcher&) = delete;
  AddressWatcher& operator=(const AddressWatcher&) = delete;

  // Sorted, without duplicates. A name that cannot be resolved now keeps its last addresses.
  std::vector<ServerAddress> addresses() const ECHOLINE_EXCLUDES(mutex_);
  // Grows with each change of the addresses.
  std::uint64_t version() const ECHOLINE_EXCLUDES(mutex_);

 private:
  void run() ECHOLINE_EXCLUDES(mutex_);
  void resolve() ECHOLINE_EXCLUDES(mutex_);

  const std::vector<std::string> servers_;
  std::vector<std::vector<ServerAddress>> found_;  // by server; of one thread at a time
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<ServerAddress> addresses_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t version_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace echoline::engine
