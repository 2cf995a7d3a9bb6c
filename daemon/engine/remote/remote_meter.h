// Counts what a client of preparation servers does. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/api/stats.h"

namespace echoline::engine {

struct RemoteMeter {
  using Count = std::atomic<std::uint64_t>;

  Count answered{0};
  Count failed{0};
  Count refused{0};
  Count busy{0};
  Count damaged{0};
  Count second{0};
  Count bytes{0};
  Count servers{0};
  Count reachable{0};
  Count in_flight{0};

  static void add(Count& count, std::uint64_t more = 1) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  RemoteStats stats() const {
    RemoteStats stats;
    stats.answered = answered.load();
    stats.failed = failed.load();
    stats.refused = refused.load();
    stats.busy = busy.load();
    stats.damaged = damaged.load();
    stats.second = second.load();
    stats.bytes = bytes.load();
    stats.servers = servers.load();
    stats.reachable = reachable.load();
    stats.in_flight = in_flight.load();
    return stats;
  }
};

}  // namespace echoline::engine
