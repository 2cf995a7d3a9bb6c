// A wait that a trainer cuts into short ones is one wait.
#include "engine/stats/present_wait.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

ring::ReaderView view(std::uint64_t wait_ms, std::uint64_t since_ms, std::uint64_t row) {
  ring::ReaderView view;
  view.wait_ns = wait_ms * kMs;
  view.waiting_since_ns = since_ms * kMs;
  view.next = {0, row};
  return view;
}

TEST(PresentWait, ShortWaitsForOneBatchAddUpUntilItIsGiven) {
  PresentWait wait;
  wait.see(view(700, 0, 8), 1000 * kMs);
  EXPECT_EQ(wait.waited_ns(1000 * kMs), 0U);
  wait.see(view(700, 1010, 8), 1100 * kMs);
  EXPECT_EQ(wait.waited_ns(1100 * kMs), 90 * kMs);
  wait.see(view(795, 0, 8), 1110 * kMs);
  wait.see(view(795, 1115, 8), 1200 * kMs);
  EXPECT_EQ(wait.waited_ns(1200 * kMs), 180 * kMs);
  wait.see(view(900, 0, 16), 1230 * kMs);
  EXPECT_EQ(wait.waited_ns(1230 * kMs), 0U);
}

TEST(PresentWait, ATrainerThatStoppedWaitingDoesNotWait) {
  PresentWait wait;
  wait.see(view(0, 0, 8), 1000 * kMs);
  wait.see(view(0, 1000, 8), 1900 * kMs);
  wait.see(view(900, 0, 8), 2000 * kMs);
  EXPECT_EQ(wait.waited_ns(2000 * kMs), 900 * kMs);
  wait.see(view(900, 0, 8), 3000 * kMs);
  EXPECT_EQ(wait.waited_ns(3000 * kMs), 0U);
}

}  // namespace
}  // namespace echoline::engine
