#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/remote/rendezvous.h"

namespace echoline::engine {
namespace {

std::string first_of(const std::vector<std::string>& servers, const Place& place) {
  return *std::ranges::max_element(
      servers, {}, [&](const std::string& server) { return server_weight(server, place); });
}

TEST(ServerChoice, SpreadsPlacesEvenlyAndMovesOnlyThoseOfAServerThatLeaves) {
  std::vector<std::string> servers;
  for (int i = 0; i < 5; ++i) servers.push_back("ipv4:10.0.0." + std::to_string(i) + ":9466");
  std::vector<std::string> fewer(servers.begin(), servers.end() - 1);
  std::map<std::string, int> counts;
  for (std::uint32_t shard = 0; shard < 100; ++shard) {
    for (std::uint64_t block = 0; block < 50; ++block) {
      const Place place{shard, block};
      const std::string first = first_of(servers, place);
      ++counts[first];
      if (first != servers.back()) {
        EXPECT_EQ(first_of(fewer, place), first);
      }
    }
  }
  for (const std::string& server : servers) EXPECT_NEAR(counts[server], 1000, 150);
}

TEST(ServerChoice, IsTheSameOnEveryHost) {
  // Literals: hosts of different machines and versions must agree.
  EXPECT_EQ(server_weight("ipv4:10.0.0.1:9466", {3, 4}), 0xe508b45ffff2c035U);
  EXPECT_EQ(server_weight("ipv4:10.0.0.2:9466", {3, 4}), 0x766bfa0924e99a64U);
  EXPECT_EQ(place_of(3, 5 * kPlaceBytes - 1), (Place{3, 4}));
}

}  // namespace
}  // namespace echoline::engine
