// Which runs become one request, and when it is sent.
#include "engine/remote/run_gatherer.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000;
constexpr std::uint32_t kConcurrency = 4;

RemoteRun run_of(std::uint64_t tag, std::uint64_t bytes, std::size_t records = 1) {
  return {.tag = tag, .place = {}, .records = std::vector(records, tag), .bytes = bytes};
}

class Gathering : public ::testing::Test {
 protected:
  using Tags = std::vector<std::uint64_t>;

  static std::shared_ptr<RemoteServer> server_at_work() {
    auto server = std::make_shared<RemoteServer>(ServerAddress{"ipv4:127.0.0.1:1", "localhost"},
                                                 HostCredentials{});
    server->in_flight = RunGatherer::kAtWork;
    return server;
  }
  void add(RemoteRun run) { gatherer_.add(state_of(std::move(run)), server_, kNow); }
  // The tags of the requests sent since the last call.
  std::vector<Tags> sent() { return std::exchange(sent_, {}); }

  const std::shared_ptr<RemoteServer> server_ = server_at_work();
  std::vector<Tags> sent_;
  RunGatherer gatherer_{kConcurrency, [this](const auto& state, const auto& server) {
                          Tags& tags = sent_.emplace_back();
                          for (const RemoteRun& run : state->runs) tags.push_back(run.tag);
                          ++server->in_flight;
                        }};
};

TEST_F(Gathering, ShortRunsWaitForEachOtherWhileTheServerHasWork) {
  for (std::uint64_t tag = 1; tag <= 3; ++tag) add(run_of(tag, 1000));
  EXPECT_TRUE(gatherer_.send_due(kNow).empty());
  EXPECT_TRUE(sent().empty());
  --server_->in_flight;
  gatherer_.send_due(kNow);
  EXPECT_EQ(sent(), std::vector<Tags>({{1, 2, 3}}));
  gatherer_.send_due(kNow + RunGatherer::kPatienceNs);
  EXPECT_TRUE(sent().empty());
}

TEST_F(Gathering, NoRunWaitsLong) {
  add(run_of(1, 1000));
  gatherer_.send_due(kNow + RunGatherer::kPatienceNs - 1);
  EXPECT_TRUE(sent().empty());
  gatherer_.send_due(kNow + RunGatherer::kPatienceNs);
  EXPECT_EQ(sent(), std::vector<Tags>({{1}}));
}

TEST_F(Gathering, ARunOfAServerThatTakesNoMoreGoesBackAndDoesNotWaitAgain) {
  add(run_of(1, 1000));
  server_->in_flight = kConcurrency;
  const std::uint64_t later_ns = kNow + RunGatherer::kPatienceNs;
  const auto left = gatherer_.send_due(later_ns);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(sent().empty());
  --server_->in_flight;
  gatherer_.add(left.front(), server_, later_ns);
  gatherer_.send_due(later_ns);
  EXPECT_EQ(sent(), std::vector<Tags>({{1}}));
}

TEST_F(Gathering, ARequestHasNoMoreBytesAndRecordsThanItShould) {
  add(run_of(1, kAnswerBytes - 1000));
  add(run_of(2, 1001));
  EXPECT_EQ(sent(), std::vector<Tags>({{1}}));
  add(run_of(3, 1, kRequestRecords));
  EXPECT_EQ(sent(), std::vector<Tags>({{2}}));
}

TEST_F(Gathering, ALongRequestIsSentAtOnce) {
  add(run_of(1, RunGatherer::kWorthBytes));
  gatherer_.send_due(kNow);
  EXPECT_EQ(sent(), std::vector<Tags>({{1}}));
}

TEST_F(Gathering, RunsOfAServerThatFailsGoBack) {
  add(run_of(1, 1000));
  add(run_of(2, 1000));
  server_->note_failure(kNow);
  const auto left = gatherer_.send_due(kNow);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front()->records(), Tags({1, 2}));
  EXPECT_TRUE(sent().empty());
}

TEST(ResultsOfRuns, HaveTheFramesOfTheirRecords) {
  RunState state;
  for (std::uint64_t tag = 1; tag <= 3; ++tag) state.runs.push_back(run_of(tag, 0, 2));
  std::vector<std::shared_ptr<Buffer>> frames;
  for (std::size_t i = 0; i < 3; ++i) frames.push_back(std::make_shared<Buffer>(i));
  std::vector<RemoteRun> without;
  const auto results = results_of(state, frames, without);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].tag, 1U);
  EXPECT_EQ(results[0].frames, std::vector({frames[0], frames[1]}));
  EXPECT_EQ(results[1].tag, 2U);
  EXPECT_EQ(results[1].frames, std::vector({frames[2]}));
  ASSERT_EQ(without.size(), 1U);
  EXPECT_EQ(without.front().tag, 3U);
  EXPECT_EQ(without.front().records.size(), 2U);
}

}  // namespace
}  // namespace echoline::engine
