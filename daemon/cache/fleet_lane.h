// One thread's connections to the memcached servers. All of libmemcached is behind this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fleet_address.h"
#include "cache/fleet_call.h"

struct memcached_st;

namespace echoline::cache {

// One thread at a time, but for `cut_overdue`, which some thread has to call now and then: it is
// what bounds the time of each call, which waits for one server.
class FleetLane {
 public:
  FleetLane(const std::vector<FleetServer>& servers, std::uint32_t timeout_ms);

  // By consistent hashing (ketama): the same on every host that names the same servers.
  std::size_t server_of(const std::string& key) const;

  enum class Outcome : std::uint8_t { kDone, kRefused, kFailed };  // kFailed: the server is away

  // Asks; `fetch` takes the answers in. So several servers work at the same time.
  Outcome ask(std::size_t server, std::span<const std::string> keys);
  using ItemFunction = std::function<void(std::string_view key, std::span<const std::byte> item)>;
  Outcome fetch(std::size_t server, const ItemFunction& take);

  Outcome set(std::size_t server, const std::string& key, std::span<const std::byte> item,
              std::uint32_t seconds);
  // Puts `word` where nothing is; does not wait for an answer.
  Outcome add_unanswered(std::size_t server, const std::string& key, std::string_view word,
                         std::uint32_t seconds);
  Outcome remove(std::size_t server, const std::string& key);
  // What the server may keep.
  std::optional<std::uint64_t> limit_bytes(std::size_t server);
  // Ends the call under way, if it has taken too long. Any thread.
  void cut_overdue(std::uint64_t now_ns) { call_.cut_overdue(now_ns); }
  // After kFailed: the next call connects anew.
  void hang_up(std::size_t server);

 private:
  struct Free {
    void operator()(memcached_st* handle) const;
  };
  using Handle = std::unique_ptr<memcached_st, Free>;

  class Timed;
  const std::uint64_t call_ns_max_;
  FleetCall call_;
  // Ours are made one by one, so that a dead server costs its own keys and nothing else.
  Handle router_;
  std::vector<Handle> servers_;
};

}  // namespace echoline::cache
