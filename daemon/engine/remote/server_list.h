// The servers of a client, and which of them gets a run. Of the client's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/remote/address_watcher.h"
#include "engine/remote/remote_call.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

class ServerList {
 public:
  using ServerPtr = std::shared_ptr<RemoteServer>;

  // `servers`: host:port each; `concurrency`: requests in flight at each.
  ServerList(std::vector<std::string> servers, HostFiles files, HostCredentials credentials,
             std::uint32_t concurrency)
      : files_(std::move(files)),
        credentials_(std::move(credentials)),
        concurrency_(concurrency),
        watcher_(std::move(servers)) {
    update();
  }

  // Takes over changed addresses. Requests at a server that has left end by themselves.
  void update();
  // The server for the run. Null: none now; `any_left` says whether one may take it soon.
  struct Choice {
    ServerPtr server;
    bool any_left = false;
  };
  Choice choose(const RunState& state, std::uint64_t now_ns) const;
  // Servers to ask whether they answer again. Those that have failed get the present certificate.
  std::vector<ServerPtr> due_probes(std::uint64_t now_ns);

  std::size_t size() const { return servers_.size(); }
  std::size_t good() const;
  // Any thread.
  std::vector<ServerAddress> addresses() const { return watcher_.addresses(); }

 private:
  const HostFiles files_;
  HostCredentials credentials_;
  const std::uint32_t concurrency_;
  AddressWatcher watcher_;
  std::uint64_t version_ = 0;
  std::vector<ServerPtr> servers_;
};

}  // namespace echoline::engine
