// The time of a trainer's step, for any number of batches in the ring and of other trainers.
#include "engine/stats/trainer_clock.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr int kFirst = 1, kSecond = 2;  // passes

// A trainer that works `step_ticks` for each batch, as long as there is one.
struct Trainer {
  int step_ticks;
  std::uint64_t released = 0;
  int worked = 0;

  bool waits(std::uint64_t published) const { return worked == 0 && released >= published; }
  void work(std::uint64_t published) {
    if (waits(published) || ++worked < step_ticks) return;
    worked = 0;
    ++released;
  }
};

double step_ms(const TrainerClock& clock) { return clock.work().cost_ns() / kMs; }

TEST(TrainerClock, AFullerOrEmptierRingChangesNothing) {
  TrainerClock clock;
  Trainer trainer{.step_ticks = 5};
  std::uint64_t published = 0;
  for (int tick = 0; tick < 4000; ++tick) {
    // Eight batches at a time, then none until all are used: the ring fills and drains.
    if (tick % 100 == 0) published += 8;
    clock.tick(10 * kMs, {{&kFirst, 1, trainer.released, trainer.waits(published)}});
    trainer.work(published);
  }
  EXPECT_NEAR(step_ms(clock), 50, 0.5);
}

TEST(TrainerClock, TheSlowestJobOfAPassCounts) {
  TrainerClock clock;
  Trainer fast{.step_ticks = 2}, slow{.step_ticks = 40};
  for (int tick = 0; tick < 8000; ++tick) {
    const std::uint64_t published = slow.released + 4;  // the ring has four slots
    // The fast one is ahead, and waits for slots that the slow one holds.
    clock.tick(10 * kMs, {{&kFirst, 2, slow.released, slow.waits(published)}});
    fast.work(published);
    slow.work(published);
  }
  EXPECT_GE(fast.released, slow.released + 3);
  EXPECT_NEAR(step_ms(clock), 400, 4);
}

TEST(TrainerClock, TwoPassesNeedTwiceTheBatches) {
  TrainerClock clock;
  Trainer one{.step_ticks = 10}, other{.step_ticks = 10};
  for (int tick = 0; tick < 2000; ++tick) {
    clock.tick(10 * kMs, {{&kFirst, 1, one.released, false}, {&kSecond, 1, other.released, false}});
    one.work(one.released + 1);
    other.work(other.released + 1);
  }
  EXPECT_NEAR(step_ms(clock), 50, 0.5);
}

TEST(TrainerClock, ATrainerThatComesIsNoProgress) {
  TrainerClock clock;
  clock.tick(10 * kMs, {{&kFirst, 1, 100, true}});
  clock.tick(10 * kMs, {{&kFirst, 2, 90, true}});   // behind
  clock.tick(10 * kMs, {{&kFirst, 1, 100, true}});  // and gone
  clock.tick(10 * kMs, {{&kSecond, 1, 500, true}});
  EXPECT_EQ(clock.work().units, 0U);
  clock.tick(10 * kMs, {{&kSecond, 1, 501, false}});
  EXPECT_EQ(clock.work().units, 1U);
  EXPECT_EQ(clock.work().spent_ns, 10 * kMs);
}

}  // namespace
}  // namespace echoline::engine
