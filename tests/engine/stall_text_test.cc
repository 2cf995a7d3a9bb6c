// Reports about long waits: what they list, and that their lists are bounded.
#include "engine/stats/stall_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/fetch/reads_in_flight.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
using Lines = std::vector<std::string>;

TEST(StallText, ATrainerThatTakesNoBatchesIsNamedWithItsSlots) {
  StallReport report;
  report.waits = {{.job = "one", .rank = 1, .pid = 12, .limit = "jobs", .waited_ns = 12 * kSecond}};
  report.waiting = 3;
  report.workers = 2;
  report.slots_published = 4;
  report.holders = {{.job = "stopped", .pid = 34, .slots = 4, .still_ns = 13 * kSecond},
                    {.job = "eval", .awaited = true, .slots = 1}};
  report.all_holders = 2;
  EXPECT_EQ(
      stall_lines(report),
      Lines({"waits: job one rank 1 (process 12), for 12.0 s; the limit is: jobs",
             "waits: 2 trainers more", "fetch: nothing is requested",
             "prep: 0 of 2 workers busy, 0 chunks of rows queued",
             "publish: 0 slots free, 0 being filled, 4 published",
             "holds: job stopped rank 0 (process 34) has 4 slots and released none for 13.0 s",
             "holds: 1 slot kept for job eval, which has not come yet"}));
}

TEST(StallText, ATrainerThatWaitsForBatchesThatItHasIsCalledStopped) {
  StallReport report;
  report.waits = {{.job = "one", .pid = 12, .limit = "publishing", .waited_ns = 3 * kSecond}};
  report.waiting = 1;
  report.slots_published = 8;
  report.holders = {{.job = "one", .pid = 12, .slots = 8, .still_ns = 3 * kSecond}};
  report.all_holders = 1;
  EXPECT_EQ(stall_lines(report).back(),
            "holds: job one rank 0 (process 12) has 8 slots and released none for 3.0 s; it waits, "
            "too: it is stopped, gets no CPU time, or keeps batches");
}

TEST(StallText, ReadsHaveTheirAddressAndAge) {
  StallReport report;
  report.records_awaited = 7;
  report.in_flight = 2;
  report.reads = {{.address = "s3://data/a.tar",
                   .offset = 512,
                   .bytes = 1000,
                   .records = 7,
                   .age_ns = 2 * kSecond}};
  EXPECT_EQ(stall_lines(report)[0], "fetch: 7 records awaited, 2 reads in flight");
  EXPECT_EQ(stall_lines(report)[1],
            "read: s3://data/a.tar from byte 512, 1000 bytes, 7 records, 2.0 s old");
  report.store_pause = "connection refused";
  EXPECT_EQ(stall_lines(report)[0],
            "fetch: 7 records awaited, the store pauses after: connection refused");
}

TEST(ReadsInFlight, TheViewHasTheOldestAndThePauseWhileItLasts) {
  ReadsInFlight reads;
  for (std::uint64_t number : {3, 1, 2}) {
    reads.add(number, {.begin_ns = number, .shard = 0, .offset = 0, .bytes = 1, .records = 1});
  }
  reads.remove(1);
  reads.set_pause("refused", 10);
  ReadsInFlight::View view = reads.view(1, 9);
  ASSERT_EQ(view.oldest.size(), 1U);
  EXPECT_EQ(view.oldest[0].begin_ns, 2U);
  EXPECT_EQ(view.count, 2U);
  EXPECT_EQ(view.pause_error, "refused");
  EXPECT_EQ(reads.view(1, 10).pause_error, "");
}

}  // namespace
}  // namespace echoline::engine
