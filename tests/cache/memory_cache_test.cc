#include "cache/memory_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace echoline::cache {
namespace {

constexpr std::uint64_t kRecords = 10000;
constexpr std::uint64_t kRecordBytes = 100;

Buffer record_bytes(std::uint64_t record) {
  Buffer bytes(kRecordBytes);
  std::memset(bytes.data(), static_cast<int>(record % 251), bytes.size());
  return bytes;
}

// One pass over all records in the given stride: how many were found.
std::uint64_t pass(MemoryCache& cache) {
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    const std::uint64_t record = i * 7919 % kRecords;
    const auto found = cache.find(record);
    if (found == nullptr) {
      cache.offer(record, record_bytes(record).span());
      continue;
    }
    ++hits;
    EXPECT_EQ(std::memcmp(found->data(), record_bytes(record).data(), kRecordBytes), 0);
  }
  return hits;
}

TEST(MemoryCache, HitsTheCachedShareInEveryEpochAfterTheFirst) {
  for (const double share : {0.35, 0.65}) {
    const auto capacity = static_cast<std::uint64_t>(share * kRecords * kRecordBytes);
    MemoryCache cache(capacity, kRecords * kRecordBytes);
    EXPECT_EQ(pass(cache), 0U);
    for (int epoch = 1; epoch < 4; ++epoch) {
      EXPECT_NEAR(static_cast<double>(pass(cache)) / kRecords, share, 0.015);
    }
    EXPECT_LE(cache.bytes(), capacity);
  }
}

TEST(MemoryCache, HoldsEverythingWhenItIsLargeEnough) {
  MemoryCache cache(kRecords * kRecordBytes, kRecords * kRecordBytes);
  EXPECT_EQ(pass(cache), 0U);
  EXPECT_EQ(pass(cache), kRecords);
}

TEST(MemoryCache, AdmissionDoesNotDependOnWhoCameFirst) {
  MemoryCache forward(kRecords * kRecordBytes / 2, kRecords * kRecordBytes);
  MemoryCache backward(kRecords * kRecordBytes / 2, kRecords * kRecordBytes);
  // Half as many records as the share would hold, so that the byte cap never decides.
  for (std::uint64_t i = 0; i < kRecords / 2; ++i) {
    forward.offer(i, record_bytes(i).span());
    backward.offer(kRecords / 2 - 1 - i, record_bytes(kRecords / 2 - 1 - i).span());
  }
  for (std::uint64_t i = 0; i < kRecords / 2; ++i) {
    EXPECT_EQ(forward.find(i) != nullptr, backward.find(i) != nullptr);
  }
}

}  // namespace
}  // namespace echoline::cache
