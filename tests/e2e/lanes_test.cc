// Lanes on several hosts: all hosts have one order, and each prepares only the rows of its own
// ranks.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

constexpr std::uint32_t kHosts = 2;
constexpr std::uint32_t kEpochs = 3;
const RigOptions kData{.shards = 4, .records_per_shard = 300};

// A small ring: rows that are prepared before the ranks attach count too.
std::string steps(const std::string& point, std::uint32_t batch = 8) {
  const std::string echo = "      - echo: {factor: 1.5, window: 96, allow_repeats: true}\n";
  return std::string("      - shuffle: {window: 40}\n") + (point == "record" ? echo : "") +
         "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
         "int64}}\n" +
         (point == "sample" ? echo : "") +
         "      - random_crop: {field: image, size: 8, padding: 2}\n" +
         "      - batch: {size: " + std::to_string(batch) + ", last: partial}\n" +
         "      - publish: {slots: 4}\n";
}

class Hosts : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Rig> host(const std::string& point) {
    auto rig = std::make_unique<Rig>(kData);
    const Status created = rig->create("train", steps(point), "lanes: 4", ", read_ahead: 128KiB");
    EXPECT_TRUE(created.ok()) << created.message();
    return rig;
  }
  static std::uint64_t bytes_read(Rig& rig) {
    return rig.engine().stats().streams.at(0).source.bytes;
  }
  static Loader rank(const Rig& rig, std::uint32_t rank) {
    return rig.attach("train", {.rank = rank, .world_size = kHosts, .local_world_size = 1});
  }
};

TEST_P(Hosts, TogetherGiveTheOneOrderAndEachPreparesItsShare) {
  const auto whole = host(GetParam());
  const std::uint64_t indexing_bytes = bytes_read(*whole);
  Loader alone = whole->attach("train");
  const std::vector<SeenRow> expected = read_epochs(alone, kEpochs);
  const auto bytes = static_cast<double>(bytes_read(*whole) - indexing_bytes);
  std::array<std::vector<SeenRow>, kHosts> seen;
  for (std::uint32_t number = 0; number < kHosts; ++number) {
    const auto rig = host(GetParam());
    Loader loader = rank(*rig, number);
    seen.at(number) = read_epochs(loader, kEpochs);
    const engine::StreamStats stats = rig->engine().stats().streams.at(0);
    const double share = static_cast<double>(stats.samples_fresh + stats.samples_echoed) /
                         static_cast<double>(expected.size());
    EXPECT_NEAR(share, 0.5, 0.02);
    EXPECT_NEAR(static_cast<double>(stats.source.bytes - indexing_bytes) / bytes, 0.5, 0.02);
    EXPECT_EQ(stats.passes, 1U);
  }
  std::array<std::size_t, kHosts> at{};
  for (std::size_t row = 0; row < expected.size();) {
    const std::size_t left = expected.size() / kEpochs - row % (expected.size() / kEpochs);
    const std::size_t batch = std::min<std::size_t>(8, left);
    for (std::size_t i = 0; i < batch; ++i, ++row) {
      const std::size_t number = i < batch / kHosts ? 0 : 1;
      ASSERT_LT(at.at(number), seen.at(number).size());
      ASSERT_EQ(seen.at(number).at(at.at(number)++), expected.at(row)) << "row " << row;
    }
  }
}

TEST_P(Hosts, AJobOfAllRowsAndARankOfHalfTheRowsBothGetTheirs) {
  const auto rig = host(GetParam());
  Loader half = rank(*rig, 0);
  read_batches(half, 20);
  Loader whole = rig->attach("train", {.job = "evaluation"});
  const auto other = host(GetParam());
  Loader alone = other->attach("train");
  EXPECT_EQ(read_batches(whole, 40), read_batches(alone, 40));
}

TEST_P(Hosts, TheFirstRankIsServedBehindTheFilledSlotsBeforeTheOthersCome) {
  const auto early = host(GetParam());
  Loader begun = early->attach("train");
  read_batches(begun, 4);  // as many as slots
  const auto rig = host(GetParam());
  const auto filled = [&] { return rig->engine().stats().streams.at(0).batches; };
  for (int i = 0; i < 1000 && filled() < 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(filled(), 4U);
  Loader first = rig->attach(
      "train",
      {.rank = 0, .world_size = kHosts, .local_world_size = kHosts, .state = begun.state()});
  Batch batch;
  // The other rank is awaited for 30 s.
  EXPECT_EQ(first.next_within(std::chrono::seconds(15), batch), ECHOLINE_OK);
}

TEST_P(Hosts, AJobAtAnotherPlaceReadsOnWhileANamedJobIsMissing) {
  Rig rig(kData);
  std::string named = steps(GetParam());
  named.replace(named.find("slots: 4"), 8, "slots: 4, jobs: [missing]");
  ASSERT_TRUE(rig.create("train", named, "lanes: 4").ok());
  Loader begun = rig.attach("train", {.job = "ahead"});
  read_batches(begun, 1);
  std::string state = begun.state();
  const std::string row = "\"row\":8,";
  ASSERT_NE(state.find(row), std::string::npos) << state;
  state.replace(state.find(row), row.size(), "\"row\":800,");
  Loader ahead = rig.attach("train", {.job = "ahead", .state = state});
  Batch batch;
  for (std::uint32_t step = 0; step < 20; ++step) {
    ASSERT_EQ(ahead.next_within(std::chrono::seconds(20), batch), ECHOLINE_OK) << "step " << step;
  }
  EXPECT_EQ(rig.engine().stats().streams.front().passes, 2U);
}

INSTANTIATE_TEST_SUITE_P(All, Hosts, testing::Values("none", "record", "sample"));

}  // namespace
}  // namespace echoline::e2e
