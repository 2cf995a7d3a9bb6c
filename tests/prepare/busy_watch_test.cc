// How long a run is asked again of servers that are busy.
#include "engine/remote/busy_watch.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kBeginNs = 1'000;
constexpr std::uint64_t kPatienceNs = BusyWatch::kPatienceNs;

RunState run_of(std::uint64_t record) {
  RunState state;
  state.runs.push_back({.place = {}, .records = {record}});
  return state;
}

TEST(BusyWatch, ARunThatIsAlwaysTooMuchIsGivenUpWhileOthersAreAnswered) {
  BusyWatch watch("train", false);
  RunState large = run_of(7);
  EXPECT_FALSE(watch.note_busy(large, "a", "too large", kBeginNs));
  watch.note_answer();
  EXPECT_FALSE(watch.note_busy(large, "a", "too large", kBeginNs + kPatienceNs - 1));
  EXPECT_TRUE(watch.note_busy(large, "a", "too large", kBeginNs + kPatienceNs));
  RunState other = run_of(8);
  watch.note_answer();
  EXPECT_FALSE(watch.note_busy(other, "a", "full", kBeginNs + kPatienceNs)) << "it has just begun";
}

TEST(BusyWatch, ServersThatAnswerNothingGetNoPatienceForEachRun) {
  BusyWatch watch("train", false);
  RunState first = run_of(7);
  EXPECT_FALSE(watch.note_busy(first, "a", "full", kBeginNs));
  RunState second = run_of(8);
  EXPECT_TRUE(watch.note_busy(second, "a", "full", kBeginNs + kPatienceNs));
}

TEST(BusyWatch, NothingIsGivenUpWhereTrainersShallWait) {
  BusyWatch watch("train", true);
  RunState run = run_of(7);
  EXPECT_FALSE(watch.note_busy(run, "a", "full", kBeginNs));
  EXPECT_FALSE(watch.note_busy(run, "a", "full", kBeginNs + 2 * kPatienceNs));
}

}  // namespace
}  // namespace echoline::engine
