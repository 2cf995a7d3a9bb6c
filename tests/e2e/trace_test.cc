// What a trace of a stream has, while trainers read.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

constexpr char kSteps[] =
    "      - cache: {memory: 1MiB}\n"
    "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
    "int64}}\n"
    "      - batch: {size: 8, last: drop}\n"
    "      - publish: {slots: 4}\n";
constexpr std::uint64_t kLongestNs = 300'000'000'000;
constexpr std::uint64_t kEpochBatches = 60 / 8;

// What all parts of a trace say, by names.
struct Told {
  std::map<std::string, std::uint64_t> spans;  // how many of each name
  std::set<std::string> tracks;
  std::set<std::uint64_t> batches, records;  // of rows
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;

  void add(const engine::TracePart& part) {
    for (const engine::TraceTrack& track : part.tracks) {
      EXPECT_TRUE(tracks.insert(track.group_name + "/" + track.name).second) << track.name;
    }
    for (const engine::TraceSpan& span : part.spans) {
      ++spans[span.name];
      EXPECT_LE(span.begin_ns, span.end_ns) << span.name;
      EXPECT_LE(span.track, tracks.size()) << span.name;
      for (const engine::TraceValue& value : span.values) {
        const std::string name = value.name;
        if (span.name == "row" && name == "batch") batches.insert(value.number);
        if (span.name == "row" && name == "record") records.insert(value.number);
        if (span.name == "memory" && name == "hit") hits += value.number;
      }
    }
    dropped = part.dropped;
  }
};

TEST(Trace, HasBatchesRowsStepsLookUpsAndReadsWhileATrainerReads) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", kSteps).ok());
  auto trace = rig.engine().trace("train", kLongestNs);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(rig.engine().trace("train", kLongestNs).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(rig.engine().trace("other", kLongestNs).status().code(), Code::kNotFound);
  Told told;
  const auto add = [&told](const Result<engine::TracePart>& part) {
    ASSERT_TRUE(part.ok()) << part.status().message();
    told.add(*part);
  };
  std::atomic<bool> has_read{false};
  std::thread trainer([&] {
    Loader loader = rig.attach("train");
    EXPECT_EQ(read_epochs(loader, 3).size(), 3 * kEpochBatches * 8);
    has_read = true;
  });
  while (!has_read) add((*trace)->take());
  trainer.join();
  add((*trace)->finish());
  EXPECT_EQ(told.dropped, 0);
  // The four batches of the first ring may have been made before the trace.
  EXPECT_GE(told.spans["batch"], 3 * kEpochBatches - 4);
  EXPECT_GE(told.spans["publish"], 3 * kEpochBatches - 4);
  EXPECT_GE(told.spans["row"], (3 * kEpochBatches - 4) * 8);
  EXPECT_GE(told.batches.size(), 3 * kEpochBatches - 4);
  EXPECT_GT(told.records.size(), 30);
  EXPECT_LT(*told.records.rbegin(), rig.record_count());
  EXPECT_GT(told.hits, 30) << "later epochs are in memory";
  EXPECT_TRUE(told.tracks.contains("fetch thread/fetch 0"));
  EXPECT_TRUE(told.tracks.contains("pass threads/pass 0"));
  EXPECT_TRUE(told.tracks.contains("slots/pass 0 slot 3"));
}

TEST(Trace, EndsWithItsStreamAndLeavesRoomForTheNext) {
  Rig rig;
  ASSERT_TRUE(rig.create("train", kSteps).ok());
  {
    auto trace = rig.engine().trace("train", kLongestNs);
    ASSERT_TRUE(trace.ok());
    EXPECT_TRUE((*trace)->take().ok());
    ASSERT_TRUE(rig.engine().delete_stream("train").ok());
    EXPECT_EQ((*trace)->take().status().code(), Code::kNotFound);
    EXPECT_EQ((*trace)->finish().status().code(), Code::kNotFound);
  }
  ASSERT_TRUE(rig.create("train", kSteps).ok());
  for (int i = 0; i < 2; ++i) {
    auto again = rig.engine().trace("train", kLongestNs);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE((*again)->finish().ok());
  }
}

}  // namespace
}  // namespace echoline::e2e
