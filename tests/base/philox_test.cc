// Known answers of Philox4x32-10 (Random123's kat_vectors), and the layout of the counter.
#include "echoline/shm/philox.h"

#include <gtest/gtest.h>

#include "echoline/shm/sample_random.h"

namespace echoline {
namespace {

TEST(Philox, EqualsThePublishedKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0}, {0, 0, 0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(SampleRandom, CountsSampleUseEpochStepAndDraw) {
  const UseKey key{.seed = 0x0000000200000001, .sample = 0x123456789abc, .epoch = 7, .use = 3};
  SampleRandom random(key, 5);
  const PhiloxCounter first = philox4x32({1, 2}, {0x56789abc, 0x12340003, 7, 0x05000000});
  const PhiloxCounter second = philox4x32({1, 2}, {0x56789abc, 0x12340003, 7, 0x05000001});
  for (const std::uint32_t word : first) EXPECT_EQ(random.next_u32(), word);
  EXPECT_EQ(random.next_u32(), second[0]);
}

TEST(SampleRandom, DrawsStayInTheirRange) {
  SampleRandom random(UseKey{.seed = 7}, 0);
  for (int i = 0; i < 10000; ++i) {
    EXPECT_LT(random.below(10), 10U);
    EXPECT_LT(random.uniform(), 1.0F);
    EXPECT_LT(random.uniform_double(), 1.0);
  }
}

}  // namespace
}  // namespace echoline
