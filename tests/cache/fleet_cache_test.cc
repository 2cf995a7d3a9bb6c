// The fleet cache over three real memcached servers.
#include "cache/fleet_cache.h"

#include <gtest/gtest.h>
#include <libmemcached/memcached.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "cache/endless_memcached.h"
#include "cache/fleet_format.h"
#include "cache/made_records.h"
#include "cache/memcached.h"

namespace echoline::cache {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kRecords = 120;

class Fleet : public testing::Test {
 protected:
  void SetUp() override {
    if (!Memcached::installed()) GTEST_SKIP() << "memcached is not installed";
    for (auto& server : servers_) server = std::make_unique<Memcached>();
  }
  std::unique_ptr<FleetCache> open(
      std::chrono::nanoseconds retry = std::chrono::milliseconds(300)) const {
    FleetCache::Options options;
    for (const auto& server : servers_) options.servers.push_back(server->address());
    options.timeout_ms = 2000;
    options.retry_ns = static_cast<std::uint64_t>(retry.count());
    auto cache = FleetCache::open(std::move(options));
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return std::move(cache).value();
  }
  static bool soon(const std::function<bool()>& holds) {
    const auto until = Clock::now() + std::chrono::seconds(30);
    while (!holds()) {
      if (Clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return true;
  }
  static std::uint64_t put(FleetCache& cache, std::uint64_t bytes = 5000) {
    std::uint64_t kept = 0;
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      kept += cache.put(made_key(record), made_record(record, bytes).span()) ? 1 : 0;
    }
    return kept;
  }
  static std::uint64_t hits(FleetCache& cache, std::uint64_t bytes = 5000,
                            const std::string& version = "v1") {
    std::vector<Buffer> buffers;
    std::vector<FleetQuery> queries;
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      Buffer& buffer = buffers.emplace_back(bytes);
      queries.push_back({made_key(record, version), buffer.span()});
    }
    cache.get(queries);
    std::uint64_t hits = 0;
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      if (!queries[record].hit) continue;
      EXPECT_TRUE(is_made_record(record, buffers[record].span())) << record;
      ++hits;
    }
    return hits;
  }

  std::array<std::unique_ptr<Memcached>, 3> servers_;
};

TEST_F(Fleet, AValueOfOneHostIsFoundByAnother) {
  const auto one = open();
  const auto other = open();
  EXPECT_EQ(hits(*other), 0U);
  EXPECT_EQ(put(*one), kRecords);
  EXPECT_EQ(hits(*other), kRecords);
  EXPECT_EQ(hits(*other, 5000, "v2"), 0U) << "a changed object must be a miss";
}

TEST_F(Fleet, ValuesLargerThanAnItemAreSplitAndJoined) {
  const auto cache = open();
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, kFleetPartBytes - 1, kFleetPartBytes,
        kFleetPartBytes + 1, std::uint64_t{7'654'321}}) {
    const RecordKey key = made_key(bytes);
    ASSERT_TRUE(cache->put(key, made_record(3, bytes).span())) << bytes;
    Buffer buffer(bytes);
    std::array<FleetQuery, 1> query{FleetQuery{key, buffer.span()}};
    cache->get(query);
    ASSERT_TRUE(query[0].hit) << bytes;
    EXPECT_TRUE(is_made_record(3, buffer.span())) << bytes;
  }
}

TEST_F(Fleet, ADeadServerIsAMissInBoundedTimeAndComesBack) {
  const auto cache = open();
  put(*cache);
  servers_[1]->kill();
  const auto begin = Clock::now();
  const std::uint64_t left = hits(*cache);
  EXPECT_GT(left, kRecords / 3);
  EXPECT_LT(left, kRecords);
  EXPECT_EQ(hits(*cache), left) << "keys of the other servers must stay";
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20));
  EXPECT_GT(cache->failures().error.load(), 0U);
  servers_[1]->start();
  EXPECT_TRUE(soon([&] { return put(*cache) == kRecords; }));
  EXPECT_EQ(hits(*cache), kRecords);
}

TEST_F(Fleet, AServerThatHangsCostsOneTimeOutOnly) {
  // The retry interval is longer than the second read takes, also on a busy machine.
  const auto cache = open(std::chrono::seconds(20));
  put(*cache);
  servers_[2]->stop_answering();
  EXPECT_LT(hits(*cache), kRecords);
  const std::uint64_t errors = cache->failures().error.load();
  EXPECT_GT(errors, 0U);
  EXPECT_GT(hits(*cache), kRecords / 3);
  EXPECT_EQ(cache->failures().error.load(), errors) << "the cache asked the server again";
}

TEST_F(Fleet, AServerThatHungIsAskedAgainOnceItAnswers) {
  const auto cache = open();
  put(*cache);
  servers_[2]->stop_answering();
  EXPECT_LT(hits(*cache), kRecords);
  servers_[2]->go_on();
  EXPECT_TRUE(soon([&] { return hits(*cache) == kRecords; }));
}

TEST_F(Fleet, AllServersDeadAreAMissAndEverybodyFetches) {
  const auto cache = open();
  for (auto& server : servers_) server->kill();
  EXPECT_EQ(cache->capacity_bytes(), 0U);
  EXPECT_EQ(hits(*cache), 0U);
  EXPECT_EQ(put(*cache), 0U);
  FleetQuery query{made_key(1), {}};
  std::array<FleetQuery*, 1> queries{&query};
  cache->claim(queries);
  EXPECT_TRUE(query.claimed);
}

TEST_F(Fleet, OneOfTheHostsThatMissARecordFetchesIt) {
  std::array<std::unique_ptr<FleetCache>, 3> hosts = {open(), open(), open()};
  std::array<std::vector<FleetQuery>, 3> queries;
  std::vector<std::thread> threads;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      queries[host].push_back({made_key(record), {}});
    }
    threads.emplace_back([&, host] {
      std::vector<FleetQuery*> wanted;
      for (FleetQuery& query : queries[host]) wanted.push_back(&query);
      hosts[host]->claim(wanted);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t record = 0; record < kRecords; ++record) {
    EXPECT_EQ(queries[0][record].claimed + queries[1][record].claimed + queries[2][record].claimed,
              1);
  }
}

TEST_F(Fleet, TheCapacityIs85PercentOfTheServersMemory) {
  const double all = 3.0 * 64 * (1 << 20);
  EXPECT_NEAR(static_cast<double>(open()->capacity_bytes()), 0.85 * all, 0.01 * all);
}

TEST_F(Fleet, AFullServerRefusesAndKeepsWhatItHas) {
  const auto cache = open();
  std::uint64_t kept = 0;
  for (std::uint64_t record = 0; record < 400; ++record) {
    kept += cache->put(made_key(record), made_record(1, 900'000).span()) ? 1 : 0;
  }
  EXPECT_LT(kept, 400U);
  EXPECT_GT(kept, 100U);
  EXPECT_GT(cache->failures().full.load(), 0U);
  std::uint64_t found = 0;
  Buffer buffer(900'000);
  for (std::uint64_t record = 0; record < 400; ++record) {
    std::array<FleetQuery, 1> query{FleetQuery{made_key(record), buffer.span()}};
    cache->get(query);
    found += query[0].hit ? 1 : 0;
  }
  EXPECT_GE(found, kept) << "a value was evicted";
  EXPECT_LT(found, 400U);
}

TEST_F(Fleet, AChangedValueIsAMissAndCounted) {
  const auto cache = open();
  put(*cache);
  for (const auto& server : servers_) {
    memcached_st* raw = memcached_create(nullptr);
    const std::string address = server->address();
    memcached_server_add(raw, "127.0.0.1",
                         static_cast<in_port_t>(std::stoi(address.substr(address.find(':') + 1))));
    for (std::uint64_t record = 0; record < kRecords; record += 2) {
      const std::string item = fleet_item(made_key(record), 0);
      std::size_t size = 0;
      std::uint32_t flags = 0;
      memcached_return_t code{};
      char* value = memcached_get(raw, item.data(), item.size(), &size, &flags, &code);
      if (value == nullptr) continue;
      value[size / 2] = static_cast<char>(value[size / 2] ^ 1);
      memcached_set(raw, item.data(), item.size(), value, size, 0, 0);
      free(value);
    }
    memcached_free(raw);
  }
  EXPECT_EQ(hits(*cache), kRecords / 2);
  EXPECT_EQ(cache->failures().corrupt.load(), kRecords / 2);
}

// The most memory that this process had so far.
long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class EndlessServers : public testing::TestWithParam<EndlessMemcached::Answer> {};

TEST_P(EndlessServers, AreAMissInBoundedTimeAndMemory) {
  const long peak_before = peak_kib();
  const EndlessMemcached server(GetParam());
  auto cache =
      FleetCache::open({.servers = {server.address()}, .timeout_ms = 200, .retry_ns = 1'000'000});
  ASSERT_TRUE(cache.ok());
  Buffer buffer(5000);
  std::vector<FleetQuery> queries = {{made_key(1), buffer.span()}};
  const auto begin = Clock::now();
  (*cache)->get(queries);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4));
  EXPECT_FALSE(queries[0].hit);
  EXPECT_EQ((*cache)->capacity_bytes(), 0U);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8));
  EXPECT_LT(peak_kib(), peak_before + (1 << 20));
}

INSTANTIATE_TEST_SUITE_P(
    All, EndlessServers,
    testing::Values(EndlessMemcached::Answer{"drips", "VALUE KEY 0 900000\r\n", "x",
                                             std::chrono::milliseconds(50)},
                    EndlessMemcached::Answer{
                        "too_long", "VALUE KEY 0 4000000000\r\n", std::string(65536, 'x'), {}},
                    EndlessMemcached::Answer{"of_others", "", "VALUE other 0 1\r\nx\r\n",
                                             std::chrono::milliseconds(5)},
                    EndlessMemcached::Answer{"of_figures", "", "STAT pid 1\r\n", {}}),
    [](const auto& each) { return each.param.name; });

TEST(FleetAddress, InvalidOnesAreRefusedWithTheAllowedForm) {
  for (const char* address : {"", "host", ":1", "host:", "host:0", "host:70000", "host:1x"}) {
    EXPECT_FALSE(FleetCache::open({.servers = {address}}).ok()) << address;
  }
}

}  // namespace
}  // namespace echoline::cache
