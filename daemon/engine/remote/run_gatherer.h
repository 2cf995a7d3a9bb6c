// Runs for the same server go into one request, wherever their records are: a call costs as much as
// some hundred kilobytes, and shuffled records have few neighbours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/remote/remote_call.h"
#include "engine/remote/remote_server.h"

namespace echoline::engine {

// Holds at most one request for each server, while it is short and the server has others to work
// on. Of the client's thread.
class RunGatherer {
 public:
  using StatePtr = std::shared_ptr<RunState>;
  using ServerPtr = std::shared_ptr<RemoteServer>;
  using Send = std::function<void(const StatePtr&, const ServerPtr&)>;

  // A server with fewer requests in flight gets the next one at once.
  static constexpr std::uint32_t kAtWork = 2;
  // A request of so many bytes does not wait for more.
  static constexpr std::uint64_t kWorthBytes = kAnswerBytes / 2;
  static constexpr std::uint64_t kPatienceNs = 20'000'000;

  // `concurrency`: requests in flight at each server.
  RunGatherer(std::uint32_t concurrency, Send send)
      : concurrency_(concurrency), send_(std::move(send)) {}

  // For a server that takes it. Sends what was held for the server if both are too much for one
  // request.
  void add(const StatePtr& state, const ServerPtr& server, std::uint64_t now_ns);
  // Sends what need not wait any more. Returns what was held for servers that now fail, are busy or
  // have all the requests that they take: another server may be idle.
  std::vector<StatePtr> send_due(std::uint64_t now_ns);

 private:
  struct Held {
    ServerPtr server;
    StatePtr state;
    std::uint64_t bytes = 0;
    std::size_t records = 0;
  };
  static bool is_due(const Held& held, std::uint64_t now_ns);

  const std::uint32_t concurrency_;
  const Send send_;
  std::vector<Held> held_;
};

// The results of the runs: the frames are of the first records. Runs that have none are moved to
// `without`.
std::vector<RemoteResult> results_of(RunState& state, std::vector<std::shared_ptr<Buffer>> frames,
                                     std::vector<RemoteRun>& without);

}  // namespace echoline::engine
