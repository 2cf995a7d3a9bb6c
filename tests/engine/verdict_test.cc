// The limit of a stream and the advice for it, from counters as a real stream has them.
#include "engine/stats/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Ten seconds of one trainer that waited for `cause` during `waited_ns` of them.
StreamStats stream(WaitCause cause, std::uint64_t waited_ns) {
  StreamStats stats;
  stats.state = "ready";
  stats.echo_point = "none";
  stats.consumers.push_back({.job = "default"});
  stats.recent.passed_ns = stats.recent.attached_ns = 10 * kSecond;
  stats.recent.wait_ns[static_cast<std::size_t>(cause)] = waited_ns;
  return stats;
}

TEST(Verdict, SaysWhatKeepsAStreamFromWorking) {
  StreamStats stats = stream(WaitCause::kFetch, 0);
  stats.state = "failed";
  stats.error = "s3://a/b: changed";
  EXPECT_EQ(verdict(stats).limit, "failed");
  EXPECT_EQ(verdict(stats).text, "the stream has failed: s3://a/b: changed");
  stats.state = "opening";
  EXPECT_EQ(verdict(stats).limit, "opening");
  stats.state = "drained";
  EXPECT_EQ(verdict(stats).text, "the stream is drained");
}

TEST(Verdict, NeedsATrainerAndSomeTime) {
  StreamStats stats = stream(WaitCause::kFetch, 9 * kSecond);
  stats.recent.attached_ns = 2 * kSecond - 1;
  EXPECT_EQ(verdict(stats).limit, "unknown");
  stats.consumers.clear();
  EXPECT_EQ(verdict(stats).limit, "nobody");
}

TEST(Verdict, TrainersAreTheLimitWhereTheyHardlyWait) {
  StreamStats stats = stream(WaitCause::kFetch, kSecond / 10);
  EXPECT_EQ(verdict(stats).limit, "trainers");
  EXPECT_EQ(verdict(stats).text, "the trainers are the limit, they wait 1 % of their time");
  stats.recent.wait_ns[0] = kSecond / 2;
  EXPECT_EQ(verdict(stats).limit, "storage") << "5 % and more is a wait";
}

TEST(Verdict, AFactorAboveRIsMoreThanIsNeeded) {
  StreamStats stats = stream(WaitCause::kFetch, 0);
  stats.echo_point = "sample";
  stats.factor = 4000;
  stats.upstream_downstream_ratio = 2.5;
  EXPECT_THAT(verdict(stats).text,
              EndsWith("; R is 2.5: an echo factor of 2.5 instead of 4 brings more fresh data"));
  stats.upstream_downstream_ratio = 0.4;
  EXPECT_THAT(verdict(stats).text, EndsWith("; R is 0.4: without echo they would not wait either"));
  stats.upstream_downstream_ratio = 3.9;
  EXPECT_THAT(verdict(stats).text, Not(HasSubstr("R is"))) << "near enough";
  stats.upstream_downstream_ratio = 0;
  EXPECT_THAT(verdict(stats).text, Not(HasSubstr("R is"))) << "unknown";
}

TEST(Verdict, AnEchoFactorUpToRCostsNoTime) {
  StreamStats stats = stream(WaitCause::kFetch, 7 * kSecond);
  stats.upstream_downstream_ratio = 3.14;
  EXPECT_EQ(verdict(stats).limit, "storage");
  EXPECT_EQ(verdict(stats).text,
            "storage is the limit, trainers wait for it 70 % of their time; R is 3.1: an echo "
            "factor up to 3.1 costs no time");
  stats.echo_point = "sample";
  stats.factor = 1500;
  EXPECT_THAT(verdict(stats).text, EndsWith("up to 3.1 costs no time; it is 1.5"));
  stats.upstream_downstream_ratio = 40;
  EXPECT_THAT(verdict(stats).text, EndsWith("up to it cost no time, 4 is a good start; it is 1.5"));
}

TEST(Verdict, WhereEchoGivesWhatItCanACacheHelps) {
  StreamStats stats = stream(WaitCause::kFetch, 7 * kSecond);
  stats.factor = 3000;
  stats.upstream_downstream_ratio = 3.1;
  EXPECT_THAT(verdict(stats).text, HasSubstr("a cache step after read"));
  stats.caches.push_back({.level = "memory"});
  EXPECT_THAT(verdict(stats).text, HasSubstr("a larger cache"));
}

TEST(Verdict, NeverAdvisesTheFactorThatIsSet) {
  StreamStats stats = stream(WaitCause::kFetch, 7 * kSecond);
  stats.echo_point = "sample";
  stats.upstream_downstream_ratio = 40;
  for (const std::uint32_t factor : {3700U, 4000U, 5000U, 20000U}) {
    stats.factor = factor;
    EXPECT_THAT(verdict(stats).text, Not(HasSubstr("good start"))) << factor;
    EXPECT_THAT(verdict(stats).text, HasSubstr("a cache step after read")) << factor;
  }
  stats.factor = 3600;
  EXPECT_THAT(verdict(stats).text, EndsWith("4 is a good start; it is 3.6"));
  stats = stream(WaitCause::kPrep, 7 * kSecond);
  stats.upstream_downstream_ratio = 40;
  stats.factor = 4000;
  EXPECT_THAT(verdict(stats).text, HasSubstr("raise daemon.workers"));
}

TEST(Verdict, NeverAdvisesACacheOrAPassOfItsOwnWhereThereIsOne) {
  StreamStats stats = stream(WaitCause::kFetch, 7 * kSecond);
  stats.recent.source_wait_ns[static_cast<std::size_t>(source::WaitReason::kThrottled)] =
      40 * kSecond;
  stats.caches.push_back({.level = "memory"});
  EXPECT_THAT(verdict(stats).text, EndsWith("raise its limit, or use a larger cache"));
  stats = stream(WaitCause::kPeer, 7 * kSecond);
  stats.slow.split = 1;
  EXPECT_THAT(verdict(stats).text,
              EndsWith("with a smaller publish.lag publish.when_slow acts earlier"));
  stats.slow.refused = 1;
  EXPECT_THAT(verdict(stats).text, EndsWith("raise daemon.memory"));
}

TEST(Verdict, NamesTheTroubleOfAStoreBeforeAnythingElse) {
  StreamStats stats = stream(WaitCause::kFetch, 7 * kSecond);
  stats.upstream_downstream_ratio = 3;
  auto& waits = stats.recent.source_wait_ns;
  waits[static_cast<std::size_t>(source::WaitReason::kThrottled)] = 40 * kSecond;
  EXPECT_THAT(verdict(stats).text, HasSubstr("asks for fewer requests"));
  waits[static_cast<std::size_t>(source::WaitReason::kUnreachable)] = 41 * kSecond;
  EXPECT_THAT(verdict(stats).text, HasSubstr("cannot be reached"));
  waits = {};
  waits[static_cast<std::size_t>(source::WaitReason::kBroken)] = 4 * kSecond;
  EXPECT_THAT(verdict(stats).text, HasSubstr("R is 3.0")) << "now and then is no trouble";
  waits = {};
  waits[static_cast<std::size_t>(source::WaitReason::kImitated)] = 900 * kSecond;
  EXPECT_THAT(verdict(stats).text, HasSubstr("R is 3.0")) << "read.throttle is meant";
}

TEST(Verdict, WorkersThatAreTheLimitAreHelpedByWhatSharesTheirWork) {
  StreamStats stats = stream(WaitCause::kPrep, 4 * kSecond);
  EXPECT_THAT(verdict(stats).text,
              StartsWith("preparing on the workers is the limit, trainers wait for it 40 %"));
  EXPECT_THAT(verdict(stats).text, HasSubstr("raise daemon.workers"));
  stats.upstream_downstream_ratio = 2;
  EXPECT_THAT(verdict(stats).text, HasSubstr("an echo factor up to 2.0 costs no time"));
  stats.echo_point = "record";
  EXPECT_THAT(verdict(stats).text, HasSubstr("put it after decode"));
}

TEST(Verdict, NamesTheJobThatTheOthersWaitFor) {
  StreamStats stats = stream(WaitCause::kPeer, 4 * kSecond);
  stats.consumers.push_back({.job = "slow", .rank = 1, .lag_rows = 64});
  EXPECT_EQ(verdict(stats).limit, "jobs");
  EXPECT_THAT(verdict(stats).text, HasSubstr("job slow rank 1 is behind by 64 rows"));
  EXPECT_THAT(verdict(stats).text, HasSubstr("publish.when_slow: split"));
}

TEST(Verdict, GoesByTheCauseThatTookMost) {
  StreamStats stats = stream(WaitCause::kFetch, 2 * kSecond);
  stats.recent.wait_ns[static_cast<std::size_t>(WaitCause::kPublish)] = 3 * kSecond;
  EXPECT_EQ(verdict(stats).limit, "publishing");
  EXPECT_THAT(verdict(stats).text, HasSubstr("30 %"));
}

}  // namespace
}  // namespace echoline::engine
