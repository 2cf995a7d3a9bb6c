#include "cache/fleet_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cache/fleet_address.h"
#include "cache/fleet_format.h"
#include "cache/random_word.h"

namespace echoline::cache {
namespace {

// The share of a server's memory that is available for records. The rest is for keys, headers, and
// rounding up to memcached's item sizes.
constexpr double kUsableShare = 0.85;
// A dead server is asked again after retry_ns * 2^4 at most.
constexpr std::uint32_t kDoublingsMax = 4;

}  // namespace

// A client for one call; the destructor returns it.
class FleetCache::ClientLease {
 public:
  explicit ClientLease(FleetCache& cache) : cache_(cache), client_(cache.take_client()) {}
  ~ClientLease() {
    const MutexLock lock(cache_.mutex_);
    cache_.idle_clients_.push_back(std::move(client_));
  }
  ClientLease(const ClientLease&) = delete;
  ClientLease& operator=(const ClientLease&) = delete;
  FleetClient& operator*() { return *client_; }

 private:
  FleetCache& cache_;
  std::unique_ptr<FleetClient> client_;
};

FleetCache::FleetCache(Options options, std::vector<FleetServer> servers)
    : options_(std::move(options)),
      servers_(std::move(servers)),
      health_(servers_.size()),
      // Random, because two daemons can have the same host name and process id.
      name_(random_word()),
      watch_([this] { watch(); }) {}

FleetCache::~FleetCache() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  end_.notify_one();
  watch_.join();
}

void FleetCache::watch() {
  // A call is ended at most a quarter of the timeout too late.
  const auto interval = std::chrono::milliseconds(std::max(1U, options_.timeout_ms / 4));
  MutexLock lock(mutex_);
  while (true) {
    const auto until = std::chrono::steady_clock::now() + interval;
    while (!ending_ && end_.wait_until(lock, until)) {
      // wait_until returns false when the interval is over.
    }
    if (ending_) return;
    for (FleetClient* client : all_clients_) client->end_overdue(monotonic_ns());
  }
}

Result<std::unique_ptr<FleetCache>> FleetCache::open(Options options) {
  std::vector<FleetServer> servers;
  for (const std::string& text : options.servers) {
    ECHOLINE_ASSIGN(FleetServer server, parse_fleet_server(text));
    servers.push_back(std::move(server));
  }
  return std::unique_ptr<FleetCache>(new FleetCache(std::move(options), std::move(servers)));
}

std::unique_ptr<FleetClient> FleetCache::take_client() {
  {
    // A client is never removed before the end, so there are as many as threads that called at
    // once.
    const MutexLock lock(mutex_);
    if (!idle_clients_.empty()) {
      std::unique_ptr<FleetClient> client = std::move(idle_clients_.back());
      idle_clients_.pop_back();
      return client;
    }
  }
  auto client = std::make_unique<FleetClient>(servers_, options_.timeout_ms);
  const MutexLock lock(mutex_);
  all_clients_.push_back(client.get());
  return client;
}

bool FleetCache::usable(std::size_t server) const {
  return monotonic_ns() >= health_[server].down_until_ns.load(std::memory_order_relaxed);
}

bool FleetCache::check(FleetClient& client, std::size_t server, FleetClient::Outcome outcome) {
  Health& health = health_[server];
  if (outcome != FleetClient::Outcome::kFailed) {
    health.strikes.store(0, std::memory_order_relaxed);
    return outcome == FleetClient::Outcome::kDone;
  }
  failures_.error.fetch_add(1, std::memory_order_relaxed);
  client.disconnect(server);
  // Threads that fail at the same time count as one strike.
  if (!usable(server)) return false;
  const std::uint32_t strikes = health.strikes.fetch_add(1, std::memory_order_relaxed);
  health.down_until_ns.store(monotonic_ns() +
                             (options_.retry_ns << std::min(strikes, kDoublingsMax)));
  if (strikes == 0) {
    log_warning("cache",
                "memcached server {}:{} does not answer; its values are misses until it does",
                servers_[server].host, servers_[server].port);
  }
  return false;
}

std::uint64_t FleetCache::capacity_bytes() {
  ClientLease client(*this);
  std::uint64_t sum = 0;
  std::uint64_t answers = 0;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    const auto limit = (*client).limit_bytes(server);
    check(*client, server, limit ? FleetClient::Outcome::kDone : FleetClient::Outcome::kFailed);
    sum += limit.value_or(0);
    answers += limit ? 1 : 0;
  }
  if (answers == 0) return 0;
  const double mean = static_cast<double>(sum) / static_cast<double>(answers);
  return static_cast<std::uint64_t>(mean * static_cast<double>(servers_.size()) * kUsableShare);
}

// Asks all servers first, then reads the answers, so that the servers work in parallel. `keys` is
// A server whose request failed is not waited for.
// by server.
void FleetCache::ask_all(FleetClient& client, const std::vector<std::vector<std::string>>& keys,
                         const FleetClient::ItemFunction& take) {
  std::vector<std::size_t> asked;
  for (std::size_t server = 0; server < keys.size(); ++server) {
    if (keys[server].empty() || !usable(server)) continue;
    if (check(client, server, client.ask(server, keys[server]))) asked.push_back(server);
  }
  for (const std::size_t server : asked) check(client, server, client.fetch(server, take));
}

void FleetCache::get(std::span<FleetQuery> queries) {
  ClientLease client(*this);
  struct Part {
    std::size_t query;
    std::uint32_t part;
  };
  std::unordered_map<std::string, Part> wanted;
  std::vector<std::vector<std::string>> keys(servers_.size());
  std::vector<std::uint32_t> missing(queries.size());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    missing[i] = fleet_parts(queries[i].destination.size());
    for (std::uint32_t part = 0; part < missing[i]; ++part) {
      std::string item = fleet_item(queries[i].key, part);
      // Of two queries for one value only the first is answered.
      if (!wanted.emplace(item, Part{i, part}).second) continue;
      keys[(*client).server_of(item)].push_back(std::move(item));
    }
  }
  ask_all(*client, keys, [&](std::string_view key, std::span<const std::byte> item) {
    const auto found = wanted.find(std::string(key));
    if (found == wanted.end()) return;
    const auto [query, part] = found->second;
    const FleetVerdict verdict =
        take_fleet_part(queries[query].key, part, item, queries[query].destination);
    if (verdict == FleetVerdict::kCorrupt) failures_.corrupt.fetch_add(1);
    if (verdict == FleetVerdict::kGood) --missing[query];
    wanted.erase(found);  // a second answer must not count a part twice
  });
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i].hit = missing[i] == 0;
}

void FleetCache::claim(std::span<FleetQuery*> queries) {
  ClientLease client(*this);
  const std::string word = fmt::format("{:016x}.{}", name_, claims_.fetch_add(1));
  std::unordered_map<std::string, FleetQuery*> wanted;
  std::vector<std::vector<std::string>> keys(servers_.size());
  for (FleetQuery* query : queries) {
    // Adds the claim without waiting, then reads back which host's claim is stored.
    query->claimed = true;  // until an answer shows that another host has claimed it
    std::string key = fleet_claim(query->key);
    // On the server of the value itself: if that one is away, no host waits for another.
    const std::size_t server = (*client).server_of(fleet_item(query->key, 0));
    if (!usable(server)) continue;
    if (!check(*client, server, (*client).add_unanswered(server, key, word, kClaimSeconds)))
      continue;
    wanted.emplace(key, query);
    keys[server].push_back(std::move(key));
  }
  ask_all(*client, keys, [&](std::string_view key, std::span<const std::byte> holder) {
    const auto found = wanted.find(std::string(key));
    if (found == wanted.end()) return;
    found->second->claimed =
        holder.size() == word.size() && std::memcmp(holder.data(), word.data(), word.size()) == 0;
  });
}

// If a part can't be stored, the claim is removed, so that other hosts stop waiting for the value.
bool FleetCache::put(const RecordKey& key, std::span<const std::byte> value) {
  ClientLease client(*this);
  if (put_parts(*client, key, value)) return true;
  const std::size_t server = (*client).server_of(fleet_item(key, 0));
  if (usable(server)) check(*client, server, (*client).remove(server, fleet_claim(key)));
  return false;
}

bool FleetCache::put_parts(FleetClient& client, const RecordKey& key,
                           std::span<const std::byte> value) {
  std::vector<std::byte> item;
  for (std::uint32_t part = 0; part < fleet_parts(value.size()); ++part) {
    const std::string name = fleet_item(key, part);
    const std::size_t server = client.server_of(name);
    if (!usable(server)) return false;
    const std::span<const std::byte> bytes = fleet_part(value, part);
    const FleetHead head = fleet_head(key, value.size(), part, bytes);
    item.resize(sizeof head + bytes.size());
    std::memcpy(item.data(), &head, sizeof head);
    std::copy(bytes.begin(), bytes.end(), item.begin() + sizeof head);
    const FleetClient::Outcome outcome = client.set(server, name, item, kValueSeconds);
    if (outcome == FleetClient::Outcome::kRefused) failures_.full.fetch_add(1);
    if (!check(client, server, outcome)) return false;
  }
  return true;
}

}  // namespace echoline::cache
