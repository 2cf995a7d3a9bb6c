// The lines of the log about long waits.
#include "engine/stats/stall_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
using Lines = std::vector<std::string>;

struct Stream {
  StallLog log{10 * kSecond};
  Lines lines;
  int reports = 0;
  std::uint64_t now_s = 100;
  bool here = true;  // the trainer

  // Looks once a second while a trainer waits from one time to the other.
  void wait(std::uint64_t from_s, std::uint64_t until_s, WaitCause cause) {
    for (std::uint64_t s = from_s; s <= until_s; ++s) look(s, cause);
  }
  void look(std::uint64_t waited_s, WaitCause cause) {
    const StallLog::Note note = log.note(waited_s * kSecond, cause, here, ++now_s * kSecond);
    if (!note.text.empty()) lines.push_back(note.text);
    reports += note.begins ? 1 : 0;
  }
};

TEST(StallLog, ALongWaitHasALineAtTenSecondsAndOneAtItsEnd) {
  Stream stream;
  stream.wait(0, 9, WaitCause::kPrep);
  EXPECT_EQ(stream.lines, Lines());
  stream.wait(10, 28, WaitCause::kFetch);
  EXPECT_EQ(stream.lines,
            Lines({"a trainer has waited 10 s for its next batch; the limit is: storage"}));
  stream.look(0, WaitCause::kPublish);
  stream.wait(0, 5, WaitCause::kFetch);
  ASSERT_EQ(stream.lines.size(), 2U);
  EXPECT_EQ(stream.lines[1], "batches again after 28 s; mostly, the limit was: storage");
}

TEST(StallLog, ATrainerThatLeavesGotNoBatch) {
  Stream stream;
  stream.wait(1, 12, WaitCause::kFetch);
  stream.here = false;
  stream.look(0, WaitCause::kFetch);
  ASSERT_EQ(stream.lines.size(), 2U);
  EXPECT_EQ(stream.lines[1],
            "the trainer that waited has left after 12 s; mostly, the limit was: storage");
}

TEST(StallLog, ShortWaitsHaveNone) {
  Stream stream;
  for (int i = 0; i < 5; ++i) stream.wait(1, 9, WaitCause::kFetch);
  EXPECT_EQ(stream.lines, Lines());
}

TEST(StallLog, AWaitOfMinutesForAnotherJobHasOneReport) {
  Stream stream;
  stream.wait(1, 600, WaitCause::kPeer);
  EXPECT_EQ(stream.lines,
            Lines({"a trainer has waited 10 s for its next batch; the limit is: jobs"}));
  EXPECT_EQ(stream.reports, 1);
}

TEST(StallLog, TheNextLongWaitHasLinesOfItsOwn) {
  Stream stream;
  stream.wait(1, 12, WaitCause::kFetch);
  stream.wait(1, 12, WaitCause::kPrep);
  stream.look(0, WaitCause::kPrep);
  EXPECT_EQ(stream.lines.size(), 4U);
  EXPECT_EQ(stream.reports, 2);
}

TEST(StallLog, ATrainerThatClaimsLongWaitsDoesNotFillTheLog) {
  Stream stream;
  for (int i = 0; i < 100; ++i) stream.look(i % 2 == 0 ? 20 : 0, WaitCause::kFetch);
  EXPECT_LE(stream.lines.size(), 20U);
}

}  // namespace
}  // namespace echoline::engine
