#include "cuda/echo_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "cuda/device_slot.h"

namespace echoline::client::cuda {
namespace {

constexpr std::uint64_t kBatchSize = 8;

using Given = std::pair<std::uint64_t, std::uint32_t>;  // row, use

State at(std::uint32_t epoch, std::uint64_t row) {
  State state;
  state.position = {epoch, row};
  return state;
}

// Runs a queue over epochs of `batches` batches. Copies a batch only when the trainer has to wait.
class Walk {
 public:
  Walk(const DeviceEcho& echo, std::uint64_t batches, const State& position, std::uint64_t step)
      : batches_(batches), next_(position.position), queue_(echo, position, step) {}

  // The uses of one epoch, or of the rest of it, as they are given; at most `most`.
  std::vector<Given> epoch(std::size_t most = SIZE_MAX) {
    std::vector<Given> given;
    while (given.size() < most) {
      const EchoQueue::Next next = queue_.peek();
      if (next.kind == EchoQueue::Kind::kWait) {
        copy_one();
        continue;
      }
      queue_.take(next);
      if (next.kind == EchoQueue::Kind::kEnd) break;
      given.emplace_back(rows_.at(next.slot), next.use);
      if (next.last_use) rows_.erase(next.slot);
      last_seen_ = next.last_of_epoch;
    }
    return given;
  }

  void copy_one() {
    DeviceSlot& slot = slots_.emplace_back();
    rows_[&slot] = next_.row;
    kept_most_ = std::max(kept_most_, rows_.size());
    const bool last = next_.row == (batches_ - 1) * kBatchSize;
    next_ = last ? Position{next_.epoch + 1, 0} : Position{next_.epoch, next_.row + kBatchSize};
    queue_.add(slot, at(next_.epoch, next_.row), last && says_last_);
    if (last && !says_last_) queue_.end_epoch(at(next_.epoch, next_.row));
  }

  EchoQueue& queue() { return queue_; }
  std::size_t kept_most() const { return kept_most_; }
  bool last_seen() const { return last_seen_; }
  void end_comes_later() { says_last_ = false; }

 private:
  const std::uint64_t batches_;
  Position next_;
  EchoQueue queue_;
  std::deque<DeviceSlot> slots_;
  std::map<const DeviceSlot*, std::uint64_t> rows_;  // of batches that are on the device
  std::size_t kept_most_ = 0;
  bool last_seen_ = false;
  bool says_last_ = true;
};

struct Case {
  std::uint32_t factor, window;
  std::uint64_t batches;
};

std::vector<Case> cases() {
  std::vector<Case> made;
  for (std::uint32_t factor = 1; factor <= 5; ++factor) {
    for (const std::uint32_t window : {1U, 2U, 3U, 4U, 7U, 16U}) {
      for (const std::uint64_t batches : {1, 2, 3, 8, 29})
        made.push_back({factor, window, batches});
    }
  }
  return made;
}

TEST(EchoQueue, GivesEachBatchOfEachEpochExactlyFactorTimesAndItsUsesInOrder) {
  for (const Case& c : cases()) {
    Walk run({c.factor, c.window}, c.batches, at(0, 0), 0);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::map<std::uint64_t, std::uint32_t> uses;
      for (const auto& [row, use] : run.epoch()) EXPECT_EQ(uses[row]++, use);
      EXPECT_EQ(uses.size(), c.batches);
      for (const auto& [row, count] : uses) EXPECT_EQ(count, c.factor) << row;
      EXPECT_TRUE(run.last_seen());
    }
  }
}

TEST(EchoQueue, KeepsNoMoreBatchesThanItsWindow) {
  for (const Case& c : cases()) {
    const DeviceEcho echo(c.factor, c.window);
    Walk run(echo, c.batches, at(0, 0), 0);
    run.epoch();
    EXPECT_LE(run.kept_most(), echo.kept_max());
    EXPECT_LE(echo.kept_max(), std::max(c.window, 1U));
  }
}

TEST(EchoQueue, SpreadsTheUsesOfABatchEvenlyAndFreshBatchesToo) {
  Walk run({3, 9}, 40, at(0, 0), 0);
  const std::vector<Given> given = run.epoch();
  std::map<std::uint64_t, std::vector<std::size_t>> steps;
  for (std::size_t i = 0; i < given.size(); ++i) steps[given[i].first].push_back(i);
  for (std::uint64_t batch = 12; batch < 24; ++batch) {
    const auto& at_steps = steps[batch * kBatchSize];
    EXPECT_EQ(at_steps[1] - at_steps[0], 4 * 3 + 1);
    EXPECT_EQ(at_steps[2] - at_steps[1], 4 * 3 + 1);
    EXPECT_EQ(at_steps[0], steps[(batch - 1) * kBatchSize][0] + 3);
  }
}

TEST(EchoQueue, GoesOnWithExactlyTheNextUseFromThePlaceOfAnyStep) {
  for (const Case& c : cases()) {
    const DeviceEcho echo(c.factor, c.window);
    Walk whole(echo, c.batches, at(0, 0), 0);
    std::vector<Given> rest = whole.epoch();
    rest.push_back({0, 0});  // of the next epoch
    for (std::size_t taken = 0; taken < rest.size(); ++taken) {
      Walk first(echo, c.batches, at(0, 0), 0);
      first.epoch(taken);
      for (std::size_t ahead = 0; ahead < taken % 4; ++ahead) first.copy_one();
      const EchoQueue::ResumePoint point = first.queue().resume_point();
      Walk resumed(echo, c.batches, point.position, point.step);
      std::vector<Given> given = resumed.epoch();
      if (taken + 1 == rest.size()) {
        EXPECT_EQ(point.position.position, (Position{1, 0}));
        continue;
      }
      EXPECT_EQ(given,
                std::vector(rest.begin() + static_cast<std::ptrdiff_t>(taken), rest.end() - 1))
          << c.factor << " " << c.window << " " << c.batches << " after " << taken;
    }
  }
}

TEST(EchoQueue, AnEndThatIsKnownOnlyAfterTheLastBatchEndsTheEpochAllTheSame) {
  Walk run({2, 3}, 5, at(0, 0), 0);
  run.end_comes_later();
  EXPECT_EQ(run.epoch().size(), 10U);
  EXPECT_EQ(run.epoch().size(), 10U);
}

TEST(EchoQueue, AbandonsTheTrainersRoundAndNotTheNext) {
  Walk run({2, 3}, 5, at(0, 0), 0);
  run.epoch(3);
  EXPECT_TRUE(run.queue().begun());
  EXPECT_FALSE(run.queue().copies_are_ahead());
  EXPECT_EQ(run.queue().drop_epoch(at(1, 0)).size(), 3U);
  EXPECT_FALSE(run.queue().begun());
  EXPECT_EQ(run.queue().resume_point().position.position, (Position{1, 0}));

  Walk ahead({2, 3}, 5, at(0, 0), 0);
  ahead.epoch(3);
  for (int i = 0; i < 4; ++i) ahead.copy_one();
  EXPECT_TRUE(ahead.queue().copies_are_ahead());
  ahead.queue().drop_epoch({});
  EXPECT_EQ(ahead.queue().resume_point().position.position, (Position{1, 0}));
  EXPECT_EQ(ahead.epoch().size(), 10U);
}

}  // namespace
}  // namespace echoline::client::cuda
