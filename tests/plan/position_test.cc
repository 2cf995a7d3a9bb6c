// A position at the end of an epoch has one form: the beginning of the next epoch.
#include "plan/position.h"

#include <gtest/gtest.h>

namespace echoline::plan {
namespace {

TEST(Position, AtTheEndOfAnEpochIsTheBeginningOfTheNext) {
  EXPECT_EQ(normalise({.epoch = 3, .row = 100}, 100).value(), (Position{.epoch = 4, .row = 0}));
  EXPECT_EQ(normalise({.epoch = 3, .row = 99}, 100).value(), (Position{.epoch = 3, .row = 99}));
  EXPECT_EQ(normalise({.epoch = 3, .row = 0}, 100).value(), (Position{.epoch = 3, .row = 0}));
  const auto beyond = normalise({.epoch = 3, .row = 101}, 100);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(normalise({.epoch = kEpochsMax}, 100).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace echoline::plan
