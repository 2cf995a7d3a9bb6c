// Hedging: when a request counts as late, and a store with late answers of all kinds.
#include "source/http/hedging.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "servers/server_process.h"
#include "source/fault_object.h"
#include "source/http/body_rates.h"
#include "source/open/open_source.h"
#include "source/reading.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kMsNs = 1'000'000;

TEST(Hedging, LateIsTwiceWhat19Of20RecentAnswersTook) {
  Hedging hedging;
  for (std::size_t i = 1; i < Hedging::kAnswersMin; ++i) hedging.note_answer(kSecondNs);
  EXPECT_FALSE(hedging.late_after_ns()) << "too little is known";
  for (std::size_t i = 0; i < Hedging::kAnswersMax; ++i)
    hedging.note_answer((i < 6 ? 1000 : 80) * kMsNs);
  EXPECT_EQ(hedging.late_after_ns(), 160 * kMsNs) << "one in 21 was slow";
  for (int i = 0; i < 3; ++i) hedging.note_answer(1000 * kMsNs);
  for (int i = 0; i < 4; ++i) hedging.note_answer(900 * kMsNs);
  EXPECT_EQ(hedging.late_after_ns(), 1800 * kMsNs) << "one in 18 was slow";
  for (std::size_t i = 0; i < Hedging::kAnswersMax; ++i) hedging.note_answer(kMsNs);
  EXPECT_EQ(hedging.late_after_ns(), Hedging::kLateMinNs);
}

TEST(Hedging, SecondRequestsAreATwentiethOfAllAndFewAtOnce) {
  Hedging hedging;
  std::size_t again = 0;
  for (std::size_t i = 1; i <= 1000; ++i) {
    hedging.note_request();
    for (; hedging.may_hedge(); ++again) hedging.note_hedge();
    EXPECT_EQ(again, i / Hedging::kRequestsPerHedge);
  }
  for (int i = 0; i < 1000; ++i) hedging.note_request();
  for (again = 0; hedging.may_hedge(); ++again) hedging.note_hedge();
  EXPECT_EQ(again, Hedging::kBurstMax);
}

class LateStore : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.ready()) << "tests/servers/fault_server.py did not start";
    ::setenv("AWS_ACCESS_KEY_ID", "fault-access-key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "fault-secret-key", 1);
    read_.add_url("s3://bucket/ok");
    read_.set_endpoint(server_.fact("endpoint"));
    open();
  }

  void open() {
    auto opened = open_source(read_);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    source_ = std::move(opened).value();
    for (int i = 0; i < 60; ++i) read("ok-0", 1);  // so that the percentile is known
    // On a busy machine some of these are late themselves.
    opened_ = source_->counters();
  }

  // Reads parts of `count` objects with this behaviour, all at once, and compares their bytes.
  void read(const std::string& behaviour, std::size_t count) {
    static const std::string content = object_content();
    std::vector<std::string> got(count, std::string(kBytes, 0));
    for (std::size_t i = 0; i < count; ++i) source_->submit(request(behaviour, i, got[i]));
    for (const auto& [number, status] : wait_for(*source_, count)) {
      EXPECT_TRUE(status.ok()) << behaviour << ": " << status.message();
      EXPECT_TRUE(got[number] == content.substr(number * 1000, kBytes)) << behaviour;
    }
  }

  ReadRequest request(const std::string& behaviour, std::size_t i, std::string& bytes) {
    const std::string url = "s3://bucket/" + behaviour + "-" + std::to_string(++objects_);
    return {i, {url, kObjectBytes, "v1"}, {{i * 1000, bytes_of(bytes)}}};
  }

  // Since open().
  void expect_hedges(std::uint64_t won, std::uint64_t lost) {
    EXPECT_EQ(source_->counters().hedges_won - opened_.hedges_won, won);
    EXPECT_EQ(source_->counters().hedges_lost - opened_.hedges_lost, lost);
  }

  static constexpr std::size_t kBytes = 200'000;
  const ServerProcess server_{"fault_server.py"};
  v1::Read read_;
  std::unique_ptr<Source> source_;
  Counters opened_;
  std::size_t objects_ = 0;
};

TEST(BodyRates, AnswersFarBelowMostOthersAreSlow) {
  BodyRates rates;
  for (std::size_t i = 1; i < BodyRates::kBodiesMin; ++i) rates.note_body(1'000'000, kSecondNs);
  EXPECT_FALSE(rates.low_rate()) << "too little is known";
  for (std::size_t i = 0; i < BodyRates::kBodiesMax; ++i) {
    rates.note_body(BodyRates::kBytesMin - 1, 100 * kSecondNs);  // too small to count
    rates.note_body((i % 20 == 0 ? 1 : 8) * 1'000'000, kSecondNs);
  }
  EXPECT_EQ(rates.low_rate(), 1e6) << "one in 20 had this rate";
  rates.note_body(8'000'000, 1);
  EXPECT_EQ(rates.low_rate(), 8e6) << "one in 21 had it";
}

TEST(BodyPace, IsMeasuredOverTheLastHalfSecondToSecond) {
  BodyPace pace;
  pace.restart(kSecondNs, 0);
  EXPECT_FALSE(pace.rate(kSecondNs + BodyPace::kWindowNs - 1, 5'000'000));
  EXPECT_EQ(pace.rate(kSecondNs + BodyPace::kWindowNs, 5'000'000), 10e6);
  // Fast until 1.5 s, and silent since.
  EXPECT_EQ(pace.rate(2 * kSecondNs, 5'000'000), 5e6);
  EXPECT_EQ(pace.rate(2 * kSecondNs + BodyPace::kWindowNs, 5'000'000), 0.0);
}

TEST(BodyPace, IsSlowOnlyIfASecondOrMoreIsLeft) {
  EXPECT_TRUE(BodyPace::is_slow(20e3, 1e6, 30'000));
  EXPECT_FALSE(BodyPace::is_slow(20e3, 1e6, 10'000)) << "half a second is left";
  EXPECT_FALSE(BodyPace::is_slow(300e3, 1e6, 30'000'000)) << "not far below the others";
  EXPECT_TRUE(BodyPace::is_slow(0, 1e6, 1'000'000));
}

TEST_F(LateStore, ALateAnswerIsNotWaitedForAndTheReadCountsOnce) {
  const Counters before = source_->counters();
  const std::uint64_t start = monotonic_ns();
  read("late-1", 1);
  EXPECT_LT(monotonic_ns() - start, 2 * kSecondNs) << "the first answer takes three seconds";
  const Counters after = source_->counters();
  EXPECT_EQ(after.requests_ok, before.requests_ok + 1);
  EXPECT_EQ(after.bytes, before.bytes + kBytes);
  EXPECT_EQ(after.requests_retried, 0U);
  EXPECT_EQ(after.in_flight, 0U);
  expect_hedges(1, 0);
}

TEST_F(LateStore, TheLoserWritesNothingWhenItsAnswerComesInMidBody) {
  read("overtaken-9", 1);
  expect_hedges(1, 0);
}

TEST_F(LateStore, ASecondRequestThatFailsDoesNotHarmTheFirst) {
  read("rightlate-9", 1);
  EXPECT_EQ(source_->counters().requests_retried, 0U);
  expect_hedges(0, 1);
}

TEST_F(LateStore, TheSecondRequestGoesOnWhenTheFirstFails) {
  read("mutelate-9", 1);
  EXPECT_EQ(source_->counters().requests_retried, 0U);
  expect_hedges(1, 0);
}

TEST_F(LateStore, AnAnswerThatBreaksEndsBothAndTheRestIsAskedFor) {
  read("latebroken-9", 1);
  EXPECT_EQ(source_->counters().requests_retried, 1U);
  expect_hedges(1, 0);
}

TEST_F(LateStore, NothingIsAskedTwiceWhileTheStoreRefuses) {
  // On a busy machine the answers of one round can be so far apart that the limit has grown again.
  for (int round = 0; round < 5 && source_->counters().limit >= 128; ++round) {
    read("slow503-3", 40);
  }
  ASSERT_LT(source_->counters().limit, 128U);
  // Attempts of these 40 may have been late before the first refusal.
  opened_ = source_->counters();
  // No answer comes meanwhile, so the limit stays.
  read("halfsecond-9", 3);
  expect_hedges(0, 0);
}

TEST_F(LateStore, AStoreThatIsSlowAsAWholeIsAskedLittleMore) {
  read("halfsecond-9", 40);
  read("halfsecond-9", 40);
  const Counters counters = source_->counters();
  const std::uint64_t hedges = counters.hedges_won + counters.hedges_lost;
  EXPECT_GE(hedges, 1U);
  EXPECT_LE(hedges, counters.requests_ok / Hedging::kRequestsPerHedge);
}

TEST_F(LateStore, SecondRequestsTakeNoPlaceOfFirstOnes) {
  read_.set_concurrency(1);
  open();
  read("halfsecond-9", 1);
  expect_hedges(0, 0);
  read_.set_concurrency(2);
  open();
  read("late-1", 1);
  expect_hedges(1, 0);
}

TEST_F(LateStore, TheRestOfASlowAnswerIsAskedForAgain) {
  for (const char* behaviour : {"trickle-1", "trickle-2"}) {
    const std::uint64_t replaced = source_->counters().replaced_won;
    const std::uint64_t start = monotonic_ns();
    read(behaviour, 1);
    EXPECT_LT(monotonic_ns() - start, 3 * kSecondNs) << "10 s at 20 KB/s";
    EXPECT_GT(source_->counters().replaced_won, replaced) << behaviour;
  }
  EXPECT_EQ(source_->counters().requests_retried, 0U);
  EXPECT_EQ(source_->counters().in_flight, 0U);
}

TEST_F(LateStore, ASlowAnswerGoesOnIfTheSecondRequestFails) {
  read("trickle503-9", 1);
  EXPECT_EQ(source_->counters().requests_retried, 0U);
  EXPECT_EQ(source_->counters().replaced_won, 0U);
  EXPECT_GE(source_->counters().replaced_lost, 1U);
}

TEST_F(LateStore, BodiesThatAreAllSlowAreAskedForLittleMore) {
  read("slowbody-9", 60);
  const Counters counters = source_->counters();
  EXPECT_LE(counters.replaced_won + counters.replaced_lost,
            counters.requests_ok / Hedging::kRequestsPerHedge);
}

TEST_F(LateStore, OffMeansNever) {
  read_.set_hedge("off");
  open();
  read("halfsecond-9", 1);
  expect_hedges(0, 0);
}

TEST_F(LateStore, ASourceCanBeDestroyedWithBothUnderWay) {
  std::string bytes(kBytes, 0);
  source_->submit(request("late-9", 0, bytes));
  std::vector<ReadResult> done;
  source_->poll(monotonic_ns() + kSecondNs, done);
  EXPECT_TRUE(done.empty());
  source_.reset();
}

}  // namespace
}  // namespace echoline::source
