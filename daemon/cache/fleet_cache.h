// Values that the hosts of a training job share in memcached servers: one host reads a value from
// the store, the others get it from there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "cache/fleet_client.h"
#include "cache/record_key.h"

namespace echoline::cache {

struct FleetFailures {
  std::atomic<std::uint64_t> corrupt{0};  // a value that differs from what was stored
  std::atomic<std::uint64_t> full{0};     // values not kept: the server has no room
  std::atomic<std::uint64_t> error{0};    // requests to a server that did not answer
};

// A request for one value.
struct FleetQuery {
  RecordKey key;
  std::span<std::byte> destination;  // of the value's size
  bool hit = false;
  bool claimed = false;  // the caller must fetch it from the store and `put` it
};

// Any thread may call any method; each call has its own connections. Every call ends in bounded
// time: a server that does not answer in time is not asked for a while, and its values are misses.
class FleetCache {
 public:
  struct Options {
    std::vector<std::string> servers;  // "host:port", in any order, the same names on all hosts
    std::uint32_t timeout_ms = 1000;
    // The time until a dead server is asked again; doubles with each failure, up to 16 times.
    std::uint64_t retry_ns = 2'000'000'000;
  };
  // The servers need not be reachable yet.
  static Result<std::unique_ptr<FleetCache>> open(Options options);
  ~FleetCache();
  FleetCache(const FleetCache&) = delete;
  FleetCache& operator=(const FleetCache&) = delete;

  // How many bytes of records the servers can keep, as they report. Servers that do not answer
  // count with the mean of the others. 0 if none answers.
  std::uint64_t capacity_bytes();

  // Fills the destinations of hits, and sets `hit`.
  void get(std::span<FleetQuery> queries);
  // For misses: decides which host fetches the value. A claim is valid for kClaimSeconds.
  void claim(std::span<FleetQuery*> queries);
  // Stores a value for all hosts. False: it could not be stored; then other hosts may claim it.
  bool put(const RecordKey& key, std::span<const std::byte> value);

  const FleetFailures& failures() const { return failures_; }

  static constexpr std::uint32_t kClaimSeconds = 5;
  // Values expire after a week, so that unused ones do not stay.
  static constexpr std::uint32_t kValueSeconds = 7 * 24 * 3600;

 private:
  struct Health {
    std::atomic<std::uint64_t> down_until_ns{0};
    std::atomic<std::uint32_t> strikes{0};  // failures since its last answer
  };
  class ClientLease;

  FleetCache(Options options, std::vector<FleetServer> servers);
  // Runs in watch_ until the end: ends calls that take too long.
  void watch();
  std::unique_ptr<FleetClient> take_client();
  // False while a server is not asked because it failed.
  bool usable(std::size_t server) const;
  // Updates the health of a server after a call; returns whether it was done.
  bool check(FleetClient& client, std::size_t server, FleetClient::Outcome outcome);
  // Stores all parts of a value; false at the first that could not be stored.
  bool put_parts(FleetClient& client, const RecordKey& key, std::span<const std::byte> value);
  void ask_all(FleetClient& client, const std::vector<std::vector<std::string>>& keys,
               const FleetClient::ItemFunction& take);

  const Options options_;
  const std::vector<FleetServer> servers_;
  std::vector<Health> health_;
  Mutex mutex_;
  std::vector<std::unique_ptr<FleetClient>> idle_clients_ ECHOLINE_GUARDED_BY(mutex_);
  std::vector<FleetClient*> all_clients_ ECHOLINE_GUARDED_BY(mutex_);
  bool ending_ ECHOLINE_GUARDED_BY(mutex_) = false;
  CondVar end_;
  const std::uint64_t name_;  // identifies this daemon in claims
  std::atomic<std::uint64_t> claims_{0};
  FleetFailures failures_;
  std::thread watch_;  // ends calls that take too long
};

}  // namespace echoline::cache
