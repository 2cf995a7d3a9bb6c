// Tests that run with each kind of vector instructions that the machine has.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>

namespace echoline {

// Makes Highway choose a target until the end of its life.
class ChosenTarget {
 public:
  explicit ChosenTarget(std::int64_t target) { choose(target); }
  ~ChosenTarget() { choose(0); }
  ChosenTarget(const ChosenTarget&) = delete;
  ChosenTarget& operator=(const ChosenTarget&) = delete;

 private:
  // 0: the one that the CPU gets otherwise.
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

class EachTarget : public testing::TestWithParam<std::int64_t> {
 private:
  const ChosenTarget target_{GetParam()};
};

}  // namespace echoline
