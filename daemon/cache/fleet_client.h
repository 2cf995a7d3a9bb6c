// One thread's connections to the memcached servers. Only this class uses libmemcached.
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

// One thread at a time, except for `end_overdue`: another thread must call it regularly, because it
// limits the time of each call.
class FleetClient {
 public:
  FleetClient(const std::vector<FleetServer>& servers, std::uint32_t timeout_ms);

  // By consistent hashing (ketama): the same on every host with the same list of servers.
  std::size_t server_of(const std::string& key) const;

  enum class Outcome : std::uint8_t { kDone, kRefused, kFailed };  // kFailed: no answer

  // `ask` sends the request, `fetch` reads the answers. So several servers can work in parallel.
  Outcome ask(std::size_t server, std::span<const std::string> keys);
  using ItemFunction = std::function<void(std::string_view key, std::span<const std::byte> item)>;
  Outcome fetch(std::size_t server, const ItemFunction& take);

  Outcome set(std::size_t server, const std::string& key, std::span<const std::byte> item,
              std::uint32_t seconds);
  // Stores `word` if the key does not exist. Does not wait for an answer.
  Outcome add_unanswered(std::size_t server, const std::string& key, std::string_view word,
                         std::uint32_t seconds);
  Outcome remove(std::size_t server, const std::string& key);
  // The size of the server's memory; nothing if it does not answer.
  std::optional<std::uint64_t> limit_bytes(std::size_t server);
  // Ends the current call if it takes too long. Any thread.
  void end_overdue(std::uint64_t now_ns) { call_.end_overdue(now_ns); }
  // Closes the connection after kFailed; the next call connects again.
  void disconnect(std::size_t server);

 private:
  struct Free {
    void operator()(memcached_st* handle) const;
  };
  using Handle = std::unique_ptr<memcached_st, Free>;

  class Timed;
  const std::uint64_t call_ns_max_;
  FleetCall call_;
  // router_ computes servers from keys. Each server has a separate handle, so that a dead server
  // only affects its own keys.
  Handle router_;
  std::vector<Handle> servers_;
};

}  // namespace echoline::cache
