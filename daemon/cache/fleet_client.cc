#include "cache/fleet_client.h"

#include <libmemcached/memcached.h>

#include "base/check.h"
#include "base/clock.h"

namespace echoline::cache {
namespace {

using Outcome = FleetClient::Outcome;

// A call for many large items may take longer than one wait.
constexpr std::uint64_t kWaitsPerCall = 5;

Outcome outcome(memcached_return_t code) {
  switch (code) {
    case MEMCACHED_SUCCESS:
    case MEMCACHED_STORED:
    case MEMCACHED_BUFFERED:
    case MEMCACHED_END:
    case MEMCACHED_NOTFOUND:
    case MEMCACHED_NOTSTORED:
    // For a claim, an existing key is a good answer.
    case MEMCACHED_DATA_EXISTS:
      return Outcome::kDone;
    case MEMCACHED_E2BIG:
    case MEMCACHED_SERVER_ERROR:
    case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
      return Outcome::kRefused;
    // Everything else means that the connection is of no more use.
    default:
      return Outcome::kFailed;
  }
}

memcached_st* make(const std::vector<FleetServer>& servers, std::uint32_t timeout_ms) {
  memcached_st* handle = memcached_create(nullptr);
  ECHOLINE_CHECK(handle != nullptr);
  limit_allocations(handle);
  const std::uint64_t timeout_us = std::uint64_t{timeout_ms} * 1000;
  // Ketama: a server that is added or removed moves only its share of the keys.
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  // Reads and writes wait with the timeouts set below, never without end.
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_NO_BLOCK, 1);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, timeout_ms);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, timeout_ms);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_SND_TIMEOUT, timeout_us);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_RCV_TIMEOUT, timeout_us);
  // FleetCache decides when to ask a dead server again, because it knows the results of all
  // clients.
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_RETRY_TIMEOUT, 0);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_SERVER_FAILURE_LIMIT, 0);
  for (const FleetServer& server : servers) {
    memcached_server_add(handle, server.host.c_str(), server.port);
  }
  return handle;
}

}  // namespace

// For its lifetime, the call to its server can be cut by end_overdue.
class FleetClient::Timed {
 public:
  Timed(FleetClient& client, const Handle& handle) : call_(client.call_) {
    call_.begin(handle.get(), monotonic_ns() + client.call_ns_max_);
  }
  ~Timed() { call_.end(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  FleetCall& call_;
};

// Closes the connection first: libmemcached's "quit" would read all that the server still sends,
// which may have no end.
void FleetClient::Free::operator()(memcached_st* handle) const {
  shut_down_connection(handle);
  memcached_free(handle);
}

FleetClient::FleetClient(const std::vector<FleetServer>& servers, std::uint32_t timeout_ms)
    : call_ns_max_(std::uint64_t{timeout_ms} * kWaitsPerCall * 1'000'000),
      router_(make(servers, timeout_ms)) {
  // A handle for each server; keys are routed by router_, not by these.
  for (const FleetServer& server : servers) servers_.emplace_back(make({server}, timeout_ms));
}

std::size_t FleetClient::server_of(const std::string& key) const {
  return memcached_generate_hash(router_.get(), key.data(), key.size());
}

Outcome FleetClient::ask(std::size_t server, std::span<const std::string> keys) {
  const Timed timed(*this, servers_[server]);
  std::vector<const char*> names;
  std::vector<std::size_t> lengths;
  for (const std::string& key : keys) {
    names.push_back(key.data());
    lengths.push_back(key.size());
  }
  return outcome(
      memcached_mget(servers_[server].get(), names.data(), lengths.data(), names.size()));
}

Outcome FleetClient::fetch(std::size_t server, const ItemFunction& take) {
  const Timed timed(*this, servers_[server]);
  memcached_result_st result;
  memcached_result_create(servers_[server].get(), &result);
  memcached_return_t code = MEMCACHED_SUCCESS;
  while (memcached_fetch_result(servers_[server].get(), &result, &code) != nullptr) {
    take({memcached_result_key_value(&result), memcached_result_key_length(&result)},
         std::as_bytes(
             std::span(memcached_result_value(&result), memcached_result_length(&result))));
  }
  memcached_result_free(&result);
  return outcome(code);
}

Outcome FleetClient::set(std::size_t server, const std::string& key,
                         std::span<const std::byte> item, std::uint32_t seconds) {
  const Timed timed(*this, servers_[server]);
  return outcome(memcached_set(servers_[server].get(), key.data(), key.size(),
                               reinterpret_cast<const char*>(item.data()), item.size(),
                               static_cast<time_t>(seconds), 0));
}

Outcome FleetClient::add_unanswered(std::size_t server, const std::string& key,
                                    std::string_view word, std::uint32_t seconds) {
  const Timed timed(*this, servers_[server]);
  memcached_st* handle = servers_[server].get();
  // No reply: one way less for each claim. The value is read back anyway.
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_NOREPLY, 1);
  const memcached_return_t code = memcached_add(handle, key.data(), key.size(), word.data(),
                                                word.size(), static_cast<time_t>(seconds), 0);
  memcached_behavior_set(handle, MEMCACHED_BEHAVIOR_NOREPLY, 0);
  return outcome(code);
}

Outcome FleetClient::remove(std::size_t server, const std::string& key) {
  const Timed timed(*this, servers_[server]);
  return outcome(memcached_delete(servers_[server].get(), key.data(), key.size(), 0));
}

std::optional<std::uint64_t> FleetClient::limit_bytes(std::size_t server) {
  const Timed timed(*this, servers_[server]);
  memcached_return_t code = MEMCACHED_SUCCESS;
  memcached_stat_st* stat = memcached_stat(servers_[server].get(), nullptr, &code);
  if (stat == nullptr) return std::nullopt;
  const std::uint64_t limit = stat->limit_maxbytes;
  memcached_stat_free(servers_[server].get(), stat);
  if (code != MEMCACHED_SUCCESS || limit == 0) return std::nullopt;
  return limit;
}

void FleetClient::disconnect(std::size_t server) {
  // First the shutdown: quit would read what the server still sends.
  shut_down_connection(servers_[server].get());
  memcached_quit(servers_[server].get());
}

}  // namespace echoline::cache
