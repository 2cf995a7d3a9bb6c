// Values shared by the hosts of a training job, in memcached servers: what one host has read from
// the store, the others need not read.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "cache/fleet_lane.h"
#include "cache/record_key.h"

namespace echoline::cache {

struct FleetFailures {
  std::atomic<std::uint64_t> corrupt{0};  // a value that was not what had been stored
  std::atomic<std::uint64_t> full{0};     // values not kept: the server has no room
  std::atomic<std::uint64_t> error{0};    // requests to a server that did not answer
};

// One value that is wanted.
struct FleetQuery {
  RecordKey key;
  std::span<std::byte> destination;  // as long as the value
  bool hit = false;
  bool claimed = false;  // nobody else is about to fetch it: the asker is to, and to `put` it
};

// Any thread may call any of it; each thread inside has connections of its own. Every call ends in
// bounded time: a server that does not answer in time is left alone for a while, and what would be
// on it is a miss.
class FleetCache {
 public:
  struct Options {
    std::vector<std::string> servers;  // "host:port", in any order, the same names on all hosts
    std::uint32_t timeout_ms = 1000;
    // After which a dead server is tried again; doubles up to sixteen times that.
    std::uint64_t retry_ns = 2'000'000'000;
  };
  // The servers need not be there.
  static Result<std::unique_ptr<FleetCache>> open(Options options);
  ~FleetCache();
  FleetCache(const FleetCache&) = delete;
  FleetCache& operator=(const FleetCache&) = delete;

  // What the servers can keep of records, by their own words; those that do not answer count as
  // the others do. 0 if none answers.
  std::uint64_t capacity_bytes();

  // Fills the destinations of hits.
  void get(std::span<FleetQuery> queries);
  // For what was missed: decides which host fetches it. A claim is good for kClaimSeconds.
  void claim(std::span<FleetQuery*> queries);
  // Stores a value for all. False: it could not be stored, and whoever waits for it may claim it.
  bool put(const RecordKey& key, std::span<const std::byte> value);

  const FleetFailures& failures() const { return failures_; }

  static constexpr std::uint32_t kClaimSeconds = 5;
  // After a week a value is read from the store once more, so that what nobody wants any more does
  // not stay for ever.
  static constexpr std::uint32_t kValueSeconds = 7 * 24 * 3600;

 private:
  struct Health {
    std::atomic<std::uint64_t> down_until_ns{0};
    std::atomic<std::uint32_t> strikes{0};  // since it last answered
  };
  class Borrowed;

  FleetCache(Options options, std::vector<FleetServer> servers);
  void watch();
  std::unique_ptr<FleetLane> take_lane();
  bool usable(std::size_t server) const;
  bool check(FleetLane& lane, std::size_t server, FleetLane::Outcome outcome);
  bool put_parts(FleetLane& lane, const RecordKey& key, std::span<const std::byte> value);
  void ask_all(FleetLane& lane, const std::vector<std::vector<std::string>>& keys,
               const FleetLane::ItemFunction& take);

  const Options options_;
  const std::vector<FleetServer> servers_;
  std::vector<Health> health_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FleetLane>> lanes_;  // that no thread uses now
  std::vector<FleetLane*> all_lanes_;
  bool ending_ = false;
  std::condition_variable end_;
  const std::uint64_t name_;  // of this daemon, in claims
  std::atomic<std::uint64_t> claims_{0};
  FleetFailures failures_;
  std::thread watch_;  // ends calls that take too long
};

}  // namespace echoline::cache
