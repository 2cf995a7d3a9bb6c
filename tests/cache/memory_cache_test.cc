#include "cache/memory_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cache/made_records.h"

namespace echoline::cache {
namespace {

TEST(MemoryCache, KeepsRecordsThatFitAndNeverEvicts) {
  MemoryCache cache(1000);
  for (std::uint64_t record = 0; record < 20; ++record) {
    cache.offer(record, made_record(record, 100).span());
  }
  EXPECT_EQ(cache.bytes(), 1000U);
  for (std::uint64_t record = 0; record < 20; ++record) {
    const auto found = cache.find(record);
    ASSERT_EQ(found != nullptr, record < 10) << record;
    EXPECT_TRUE(found == nullptr || is_made_record(record, found->span()));
  }
}

TEST(MemoryCache, AHeldValueOutlivesTheCache) {
  auto cache = std::make_unique<MemoryCache>(1000);
  cache->offer(7, made_record(7, 500).span());
  const auto held = cache->find(7);
  cache.reset();
  EXPECT_TRUE(is_made_record(7, held->span()));
}

}  // namespace
}  // namespace echoline::cache
