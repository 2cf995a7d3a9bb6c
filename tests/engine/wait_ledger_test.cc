// A trainer's waits are charged to what delayed it, and none is lost while it was not attached.
#include "engine/stats/wait_ledger.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "engine/stats/wait_places.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t of(const WaitLedger& ledger, WaitCause cause) {
  return ledger.by_cause()[static_cast<std::size_t>(cause)];
}

// What a trainer's cursor page says of its waits.
ring::ReaderView waiting(std::uint64_t since_ns, std::uint64_t ended_waits_ns) {
  ring::ReaderView view;
  view.waiting_since_ns = since_ns;
  view.wait_ns = ended_waits_ns;
  return view;
}

TEST(WaitLedger, ChargesARunningWaitToTheCauseOfEachLook) {
  WaitLedger ledger(100 * kMs, WaitCause::kDaemon);
  ring::ReaderView view = waiting(105 * kMs, 0);
  ledger.charge(view, 110 * kMs, WaitCause::kFetch);
  ledger.charge(view, 120 * kMs, WaitCause::kPrep);
  EXPECT_EQ(of(ledger, WaitCause::kFetch), 5 * kMs);
  EXPECT_EQ(of(ledger, WaitCause::kPrep), 10 * kMs);
  view = waiting(0, 17 * kMs);
  ledger.charge(view, 130 * kMs, WaitCause::kPublish);
  EXPECT_EQ(of(ledger, WaitCause::kPublish), 2 * kMs);
  EXPECT_EQ(ledger.charge(view, 140 * kMs, WaitCause::kPeer).sum(), 0U);
}

TEST(WaitLedger, ChargesWhatTheTrainerWaitedBeforeItWasAttachedToTheDaemon) {
  WaitLedger ledger(10'000 * kMs, WaitCause::kDaemon);
  ledger.charge({}, 10'010 * kMs, WaitCause::kFetch);
  // The trainer adds its 3.6 s to the new page, and waits for its first batch.
  const ring::ReaderView view = waiting(10'012 * kMs, 3600 * kMs);
  const WaitLedger::Charged charged = ledger.charge(view, 10'020 * kMs, WaitCause::kFetch);
  EXPECT_EQ(charged.sum(), 3608 * kMs);
  EXPECT_EQ(of(ledger, WaitCause::kDaemon), 3598 * kMs);
  EXPECT_EQ(of(ledger, WaitCause::kFetch), 10 * kMs) << "at most the time since the last look";
}

TEST(WaitLedger, ALongWaitThatBeganBeforeTheAttachmentIsSplitAtIt) {
  WaitLedger ledger(5000 * kMs, WaitCause::kPeer);
  const ring::ReaderView view = waiting(3800 * kMs, 0);
  ledger.charge(view, 5010 * kMs, WaitCause::kPrep);
  EXPECT_EQ(of(ledger, WaitCause::kPeer), 1200 * kMs);
  EXPECT_EQ(of(ledger, WaitCause::kPrep), 10 * kMs);
}

TEST(WaitLedger, AllCausesSumToWhatTheTrainerMeasured) {
  WaitLedger ledger(0, WaitCause::kDaemon);
  ring::ReaderView view;
  std::uint64_t now_ns = 0;
  for (std::uint64_t look = 1; look <= 500; ++look) {
    now_ns += 10 * kMs;
    view.wait_ns += look % 7 * kMs + (look % 100 == 0 ? 700 * kMs : 0);
    ledger.charge(view, now_ns, static_cast<WaitCause>(look % 4));
  }
  const auto& causes = ledger.by_cause();
  EXPECT_EQ(std::accumulate(causes.begin(), causes.end(), std::uint64_t{0}), view.wait_ns);
}

TEST(WaitPlaces, SpreadWaitsForPrepOverTheStepsAndCountAtMostSomeStores) {
  WaitPlaces places;
  places.see_steps(0, {{"decode image", {1, 900}}});
  places.see_steps(100, {{"decode image", {1, 900}}});  // no row was timed: it waits for one
  places.see_steps(200, {{"decode image", {2, 1200}}, {"resize", {1, 100}}});
  places.add_store("s3://a", 7);
  places.add_store("", 1);
  for (int i = 0; i < 100; ++i) places.add_store("s3://" + std::to_string(i), 1);
  StreamStats stats;
  places.report(stats);
  EXPECT_EQ(stats.step_wait_ns["decode image"], 150U);
  EXPECT_EQ(stats.step_wait_ns["resize"], 50U);
  EXPECT_EQ(stats.endpoint_wait_ns["s3://a"], 8U);
  EXPECT_EQ(stats.endpoint_wait_ns["other"], 69U);
}

}  // namespace
}  // namespace echoline::engine
