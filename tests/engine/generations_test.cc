#include "engine/runtime/generations.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

TEST(Generations, TellStreamsOfOneNameApart) {
  Generations generations;
  EXPECT_EQ(generations.of("a"), 0U);
  const std::uint64_t first = generations.begin("a");
  EXPECT_EQ(generations.of("a"), first);
  generations.end("a");
  EXPECT_EQ(generations.of("a"), 0U) << "a late message finds no stream";
  const std::uint64_t second = generations.begin("a");
  EXPECT_NE(first, second);
  EXPECT_NE(generations.begin("b"), second);
}

}  // namespace
}  // namespace echoline::engine
