#include "engine/remote/server_list.h"

#include <algorithm>
#include <utility>

namespace echoline::engine {

void ServerList::update() {
  if (watcher_.version() == version_) return;
  version_ = watcher_.version();
  std::vector<ServerPtr> servers;
  for (const ServerAddress& address : watcher_.addresses()) {
    const auto known = std::ranges::find_if(
        servers_, [&](const ServerPtr& server) { return server->address() == address; });
    servers.push_back(
        known != servers_.end() ? *known : std::make_shared<RemoteServer>(address, credentials_));
  }
  servers_ = std::move(servers);
}

// The one with the highest weight; another one only where that one has all the requests that it
// takes, and the other has little to do. So the caches of the servers keep their parts while all of
// them are loaded, and none is idle while another is slow.
ServerList::Choice ServerList::choose(const RunState& state, std::uint64_t now_ns) const {
  ServerPtr first;
  ServerPtr idle;
  std::uint64_t first_weight = 0;
  for (const ServerPtr& server : servers_) {
    if (!server->is_good() || state.has_tried(*server)) continue;
    const std::uint64_t weight = server_weight(server->address().target, state.runs.front().place);
    if (first == nullptr || weight > first_weight) {
      first = server;
      first_weight = weight;
    }
    const bool is_idle = !server->is_busy(now_ns) && server->in_flight < (concurrency_ + 1) / 2;
    if (is_idle && (idle == nullptr || server->in_flight < idle->in_flight)) idle = server;
  }
  if (first == nullptr) return {};
  const bool takes = !first->is_busy(now_ns) && first->in_flight < concurrency_;
  return {takes ? first : idle, true};
}

std::vector<ServerList::ServerPtr> ServerList::due_probes(std::uint64_t now_ns) {
  std::vector<ServerPtr> due;
  for (const ServerPtr& server : servers_) {
    if (server->is_probe_due(now_ns)) due.push_back(server);
  }
  if (due.empty()) return due;
  // An expired certificate may be the reason of the failure.
  if (Result<HostCredentials> read = read_credentials(files_); read.ok()) {
    credentials_ = std::move(read).value();
    for (const ServerPtr& server : due) server->use(credentials_);
  }
  return due;
}

std::size_t ServerList::good() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(servers_, [](const ServerPtr& server) { return server->is_good(); }));
}

}  // namespace echoline::engine
