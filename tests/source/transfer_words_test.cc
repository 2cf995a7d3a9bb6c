// Lengths and ranges in headers, and the pauses between attempts.
#include <gtest/gtest.h>

#include "source/http/backoff.h"
#include "source/http/content_range.h"

namespace echoline::source {
namespace {

TEST(ContentRange, ARangeIsUnderstood) {
  const auto range = parse_content_range("bytes 10-19/200");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->begin, 10U);
  EXPECT_EQ(range->end, 20U);
  EXPECT_EQ(range->total, 200U);
  EXPECT_FALSE(parse_content_range("bytes 0-0/*")->total);
}

TEST(ContentRange, WhatContradictsItselfIsNoRange) {
  for (const char* text :
       {"", "bytes", "bytes */10", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-/10", "bytes -5/10",
        "bytes 0-1", "bytes 0-1/x", "bytes 0 -1/10", "items 0-1/10", "bytes 1/2-3",
        "bytes 0-18446744073709551615/*", "bytes 0-99999999999999999999/*", "bytes +0-1/9"})
    EXPECT_FALSE(parse_content_range(text)) << text;
}

TEST(Backoff, PausesDoubleToTheirCapAndAreJittered) {
  for (std::uint32_t failures = 1; failures < 100; ++failures) {
    const std::uint64_t step =
        std::min<std::uint64_t>(kBackoffMaxNs, kBackoffFirstNs << std::min(failures - 1, 16U));
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    for (std::uint32_t draw = 0; draw < 200; ++draw) {
      const std::uint64_t pause = backoff_ns(failures, 7, draw);
      least = std::min(least, pause);
      most = std::max(most, pause);
    }
    EXPECT_GE(least, step / 2);
    EXPECT_LE(most, step);
    EXPECT_GT(most - least, step / 4);
  }
}

}  // namespace
}  // namespace echoline::source
