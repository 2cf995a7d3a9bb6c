// The times of a stream's stages: busy, starved, blocked.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "e2e/rig.h"

namespace echoline::e2e {
namespace {

using namespace std::chrono_literals;

const std::string kSteps =
    "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
    "int64}}\n"
    "      - batch: {size: 4}\n"
    "      - publish: {slots: 4}\n";

struct Shares {
  double busy = 0, starved = 0, blocked = 0;  // seconds
};

class Stages : public testing::Test {
 protected:
  void SetUp() override {
    const Status created = rig_.create("train", kSteps);
    ASSERT_TRUE(created.ok()) << created.message();
  }
  Shares of(const std::string& name) {
    const engine::EngineStats stats = rig_.engine().stats();
    for (const engine::StageStats& stage : stats.streams.at(0).stages) {
      if (stage.stage != name) continue;
      return {static_cast<double>(stage.busy_ns) / 1e9, static_cast<double>(stage.starved_ns) / 1e9,
              static_cast<double>(stage.blocked_ns) / 1e9};
    }
    return {};
  }
  Shares during(const std::string& name, const std::function<void()>& action) {
    const Shares before = of(name);
    action();
    const Shares after = of(name);
    return {after.busy - before.busy, after.starved - before.starved,
            after.blocked - before.blocked};
  }

  Rig rig_;
};

TEST_F(Stages, AFullRingWithoutReadersIsNoWork) {
  std::this_thread::sleep_for(500ms);  // until the slots are full
  const Shares publish = during("publish", [] { std::this_thread::sleep_for(1s); });
  EXPECT_GT(publish.blocked, 0.5);
  EXPECT_LT(publish.busy, 0.1 * publish.blocked);
}

TEST_F(Stages, TheTimeBetweenRequestsIsNotTheStores) {
  Loader loader = rig_.attach("train");
  const Shares fetch = during("fetch", [&] {
    for (int i = 0; i < 12; ++i) {
      read_batches(loader, 1);
      std::this_thread::sleep_for(100ms);
    }
  });
  EXPECT_GT(fetch.busy + fetch.starved + fetch.blocked, 0.8);
  // A file in the page cache: microseconds for each batch.
  EXPECT_LT(fetch.busy, 0.2);
}

}  // namespace
}  // namespace echoline::e2e
