// The buffer of a trace: bounded, off by default, and filled by many threads while one takes.
#include "trace/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "trace/lanes.h"

namespace echoline::trace {
namespace {

Span row(std::uint32_t worker, std::uint64_t number) {
  return {.kind = Kind::kRow,
          .group = Group::kWorkers,
          .track = worker,
          .begin_ns = number,
          .end_ns = number + 1,
          .values = {0, 0, 0, number}};
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};

TEST(Recorder, KeepsNothingWhileItIsOff) {
  Recorder recorder;
  recorder.add(row(0, 1));
  recorder.name_trainer(1, "job default");
  EXPECT_EQ(recorder.now_ns(), 0);
  const std::uint64_t trace = recorder.start(kNever);
  ASSERT_NE(trace, 0);
  EXPECT_NE(recorder.now_ns(), 0);
  const Recorder::Taken taken = recorder.take(trace);
  EXPECT_TRUE(taken.spans.empty());
  EXPECT_TRUE(taken.trainers.empty());
}

TEST(Recorder, HasOneTraceAtATime) {
  Recorder recorder, other;
  EXPECT_FALSE(Recorder::any_on());
  const std::uint64_t first = recorder.start(kNever);
  ASSERT_NE(first, 0);
  EXPECT_EQ(recorder.start(kNever), 0);
  const std::uint64_t others = other.start(kNever);
  EXPECT_NE(others, 0);
  other.stop(others);
  EXPECT_TRUE(Recorder::any_on());
  recorder.stop(first);
  recorder.stop(first);
  EXPECT_FALSE(Recorder::any_on());
  EXPECT_NE(recorder.start(kNever), 0);
}

TEST(Recorder, EndsATraceInTimeAndItsLateCallerDoesNotTouchTheNext) {
  Recorder recorder;
  const std::uint64_t late = recorder.start(monotonic_ns());
  ASSERT_NE(late, 0);
  recorder.add(row(0, 1));
  EXPECT_FALSE(recorder.on()) << "its time is over";
  // Also where nothing was added.
  ASSERT_NE(recorder.start(monotonic_ns()), 0);
  const std::uint64_t next = recorder.start(kNever);
  ASSERT_NE(next, 0);
  recorder.add(row(0, 2));
  EXPECT_TRUE(recorder.take(late).spans.empty());
  recorder.stop(late);
  EXPECT_TRUE(recorder.on());
  EXPECT_EQ(recorder.take(next).spans.size(), 1);
}

TEST(Recorder, DropsAndCountsWhatIsNotTakenInTime) {
  Recorder recorder;
  const std::uint64_t trace = recorder.start(kNever);
  ASSERT_NE(trace, 0);
  constexpr std::size_t kMore = 10;
  for (std::size_t i = 0; i < Recorder::kSpansMax + kMore; ++i) recorder.add(row(0, i));
  Recorder::Taken taken = recorder.take(trace);
  EXPECT_EQ(taken.spans.size(), Recorder::kSpansMax);
  EXPECT_EQ(taken.dropped, kMore);
  // The oldest are kept: the spans of one track stay without gaps until the first that is lost.
  EXPECT_EQ(taken.spans.back().values[3], Recorder::kSpansMax - 1);
  recorder.add(row(0, 7));
  taken = recorder.take(trace);
  EXPECT_EQ(taken.spans.size(), 1);
  EXPECT_EQ(taken.dropped, 0);
}

TEST(Recorder, LosesNoSpanBetweenThreadsThatAddAndOneThatTakes) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kSpans = 5000;
  static_assert(kThreads * kSpans < Recorder::kSpansMax, "none may be dropped");
  Recorder recorder;
  const std::uint64_t trace = recorder.start(kNever);
  ASSERT_NE(trace, 0);
  std::atomic<std::uint32_t> running{kThreads};
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < kThreads; ++worker) {
    workers.emplace_back([&, worker] {
      for (std::uint64_t i = 0; i < kSpans; i += 2) {
        recorder.add(std::vector<Span>{row(worker, i), row(worker, i + 1)});
        recorder.name_trainer(worker, "trainer");
      }
      running.fetch_sub(1);
    });
  }
  std::vector<std::uint64_t> next(kThreads, 0);
  std::uint64_t dropped = 0, disorder = 0;
  const auto take = [&] {
    const Recorder::Taken taken = recorder.take(trace);
    dropped += taken.dropped;
    for (const Span& span : taken.spans) disorder += span.values[3] != next[span.track]++;
  };
  while (running.load() != 0) take();
  for (std::thread& worker : workers) worker.join();
  take();
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(next, std::vector<std::uint64_t>(kThreads, kSpans));
  EXPECT_EQ(disorder, 0);
}

TEST(Recorder, CanEndWhileThreadsAdd) {
  Recorder recorder;
  std::atomic<bool> ends{false};
  std::thread worker([&] {
    while (!ends.load()) {
      if (recorder.on()) recorder.add(row(0, 1));
    }
  });
  const std::uint64_t first = recorder.start(kNever);
  while (recorder.take(first).spans.empty()) std::this_thread::yield();
  recorder.stop(first);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t trace = recorder.start(kNever);
    EXPECT_NE(trace, 0);
    recorder.take(trace);
    recorder.stop(trace);
  }
  ends.store(true);
  worker.join();
  const std::uint64_t trace = recorder.start(kNever);
  ASSERT_NE(trace, 0);
  // Nothing of an earlier trace is left.
  EXPECT_TRUE(recorder.take(trace).spans.empty());
}

TEST(Lanes, PutSpansThatOverlapOnDifferentTracks) {
  Lanes lanes;
  EXPECT_EQ(lanes.place(10, 20), 0);
  EXPECT_EQ(lanes.place(15, 25), 1);
  EXPECT_EQ(lanes.place(5, 30), 2);
  // Each lane is free again when its last span has ended.
  EXPECT_EQ(lanes.place(20, 40), 0);
  EXPECT_EQ(lanes.place(30, 45), 1);
  EXPECT_EQ(lanes.place(30, 50), 2);
  EXPECT_EQ(lanes.place(39, 60), 3);
}

TEST(Spans, HaveTheFormOfTheirKind) {
  const std::pair<Kind, const char*> names[] = {{Kind::kWait, "wait"},
                                                {Kind::kTrainerWait, "wait"},
                                                {Kind::kBatch, "batch"},
                                                {Kind::kBatchBytes, "bytes"},
                                                {Kind::kBatchRows, "rows"},
                                                {Kind::kBatchTurn, "turn"},
                                                {Kind::kPublish, "publish"},
                                                {Kind::kRow, "row"},
                                                {Kind::kStep, "step"},
                                                {Kind::kMemoryLookUp, "memory"},
                                                {Kind::kSampleLookUp, "samples"},
                                                {Kind::kDiskLookUp, "disk"},
                                                {Kind::kFleetLookUp, "fleet"},
                                                {Kind::kRead, "read"}};
  for (const auto& [kind, name] : names) EXPECT_STREQ(form_of(kind).name, name);
  EXPECT_STREQ(form_of(Kind::kTrainerWait).values[0], "epoch");
  EXPECT_STREQ(form_of(Kind::kRow).values[3], "record");
}

}  // namespace
}  // namespace echoline::trace
