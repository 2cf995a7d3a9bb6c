#include "engine/fetch/request_coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace echoline::engine {
namespace {

class NoAccount : public echo::Account {
 public:
  void add_ahead(std::int64_t) override {}
  void note_arrival(std::uint64_t) override {}
  bool try_keep(std::uint64_t) override { return true; }
  void release_kept(std::uint64_t) override {}
  void add_encoded(std::int64_t) override {}
};

FetchRequest request(std::uint64_t record, std::uint32_t shard, std::uint64_t offset,
                     std::uint64_t bytes, std::uint32_t epoch = 0) {
  return {std::make_shared<echo::Item>(std::make_shared<NoAccount>(), epoch, record),
          record,
          {shard, offset, bytes}};
}

std::vector<std::uint64_t> records(const std::vector<FetchRequest>& requests) {
  std::vector<std::uint64_t> result;
  for (const FetchRequest& one : requests) result.push_back(one.record);
  return result;
}

TEST(RequestCoalescer, PutsNeighboursIntoOneRequest) {
  RequestCoalescer book(0);
  book.add(request(5, 0, 5000, 1000));
  book.add(request(4, 0, 4000, 1000));
  book.add(request(9, 1, 6000, 1000));
  book.add(request(6, 0, 6000, 1000));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{4, 5, 6}));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{9}));
  EXPECT_TRUE(book.empty());
}

TEST(RequestCoalescer, ReadsHardlyAnythingAgainThatACacheHas) {
  constexpr std::uint64_t kBytes = 4000;
  RequestCoalescer book(1 << 20, true);
  std::mt19937 random(3);
  std::uint64_t wanted = 0;
  for (std::uint64_t record = 0; record < 5000; ++record) {
    if (random() % 100 < 35) continue;  // cached
    book.add(request(record, 0, record * kBytes, kBytes));
    wanted += kBytes;
  }
  std::uint64_t read = 0;
  while (!book.empty()) {
    const std::vector<FetchRequest> run = book.take({});
    read += run.back().extent.offset + kBytes - run.front().extent.offset;
  }
  EXPECT_LE(static_cast<double>(read), 1.02 * static_cast<double>(wanted));
}

TEST(RequestCoalescer, CutsARunWhereWhatWasTakenOutLeftAGap) {
  RequestCoalescer book(1 << 20, true);
  for (std::uint64_t record = 0; record < 10; ++record) {
    book.add(request(record, 0, record * 4000, 4000));
  }
  std::vector<FetchRequest> run = book.take({});
  ASSERT_EQ(run.size(), 10U);
  run.erase(run.begin() + 4);
  const std::vector<std::vector<FetchRequest>> runs = book.cut(std::move(run));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(records(runs[0]), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(records(runs[1]), (std::vector<std::uint64_t>{5, 6, 7, 8, 9}));
}

TEST(RequestCoalescer, LeavesWideGapsUnread) {
  RequestCoalescer book(0);
  book.add(request(0, 0, 0, 1000));
  book.add(request(1, 0, 1000 + RequestCoalescer::kGapBytes, 1000));
  book.add(request(2, 0, 2001 + 2 * RequestCoalescer::kGapBytes, 1000));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{2}));
}

TEST(RequestCoalescer, TakesTheOldestFirstAndPutBackOnesBeforeAll) {
  RequestCoalescer book(0);
  book.add(request(1, 1, 0, 10));
  book.add(request(2, 2, 0, 10));
  book.put_back(request(3, 3, 0, 10));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{1}));
}

TEST(RequestCoalescer, ASecondOrderForEachRecordDoesNotCutRequestsShort) {
  RequestCoalescer book(0);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (std::uint64_t record = 0; record < 8; ++record) {
      book.add(request(record, 0, record * 1000, 1000));
    }
  }
  const std::vector<std::uint64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(records(book.take({})), all);
  EXPECT_EQ(records(book.take({})), all);
  EXPECT_TRUE(book.empty());
}

TEST(RequestCoalescer, WhatIsWantedMuchLaterDoesNotJoin) {
  RequestCoalescer book(0);
  book.add(request(0, 0, 0, 1000));
  for (std::uint64_t i = 0; i < RequestCoalescer::kReachMin; ++i)
    book.add(request(100 + i, 1, 0, 1000));
  book.add(request(1, 0, 1000, 1000));
  EXPECT_EQ(records(book.take({})), (std::vector<std::uint64_t>{0}));

  RequestCoalescer wider(RequestCoalescer::kReachMin + 1);
  wider.add(request(0, 0, 0, 1000));
  for (std::uint64_t i = 0; i < RequestCoalescer::kReachMin; ++i)
    wider.add(request(100 + i, 1, 0, 1000));
  wider.add(request(1, 0, 1000, 1000));
  EXPECT_EQ(records(wider.take({})), (std::vector<std::uint64_t>{0, 1}));
}

TEST(RequestCoalescer, RequestsGrowWhereMuchIsWantedAndLeaveEnoughToGoOnSideBySide) {
  constexpr std::uint64_t kBytes = 100'000;
  const auto longest = [](std::uint64_t count) {
    RequestCoalescer book(1'000'000);
    for (std::uint64_t i = 0; i < count; ++i) book.add(request(i, 0, i * kBytes, kBytes));
    return book.take({}).size() * kBytes;
  };
  EXPECT_EQ(longest(100), RequestCoalescer::kRequestBytes / kBytes * kBytes);
  EXPECT_EQ(longest(640), 64'000'000 / RequestCoalescer::kAtOnce / kBytes * kBytes);
  EXPECT_EQ(longest(6000), RequestCoalescer::kRequestBytesMax / kBytes * kBytes);
}

TEST(RequestCoalescer, FewReadsOfANearStoreAreLongAndADistantStoreGetsFourLatencies) {
  using Reads = RequestCoalescer::Reads;
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(Reads::worth(128, 0).bytes, 3 * kMiB);
  EXPECT_EQ(Reads::worth(16, 0).bytes, 3 * kMiB);
  EXPECT_EQ(Reads::worth(4, 0).bytes, 12 * kMiB);
  EXPECT_EQ(Reads::worth(4, 16.0 * kMiB).bytes, 16 * kMiB);
  EXPECT_EQ(Reads::worth(16, 16.0 * kMiB).bytes, 4 * kMiB);
}

TEST(RequestCoalescer, ARequestIsNoLongerThanTheReadsMayBe) {
  constexpr std::uint64_t kBytes = 100'000;
  RequestCoalescer book(1'000'000);
  for (std::uint64_t i = 0; i < 6000; ++i) book.add(request(i, 0, i * kBytes, kBytes));
  EXPECT_EQ(book.take({.bytes = 3'000'000}).size(), 30);
  EXPECT_EQ(book.take({.bytes = 1}).size(), RequestCoalescer::kRequestBytes / kBytes);
}

TEST(RequestCoalescer, TheEndOfAnEpochIsReadInShortRequestsWithoutTheNextEpoch) {
  constexpr std::uint64_t kBytes = 100'000;
  RequestCoalescer book(1'000'000);
  // An epoch of 64 MB, then most of the next one: enough for reads of the greatest length.
  for (std::uint64_t i = 0; i < 640; ++i) book.add(request(i, 0, i * kBytes, kBytes, 3));
  book.add(request(640, 1, 0, 0, 3));  // an empty file
  for (std::uint64_t i = 0; i < 3000; ++i) book.add(request(i, 0, i * kBytes, kBytes, 4));
  std::uint64_t left = 640 * kBytes;
  while (left > 0) {
    const std::vector<FetchRequest> run = book.take({.at_once = 8});
    for (const FetchRequest& one : run) EXPECT_EQ(one.item->epoch, 3U);
    EXPECT_LE(run.size() * kBytes, std::max(left / 8, RequestCoalescer::kRequestBytes));
    left -= run.size() * kBytes;
  }
  EXPECT_EQ(records(book.take({.at_once = 8})), (std::vector<std::uint64_t>{640}));
  EXPECT_GT(book.take({.at_once = 8}).size() * kBytes, 14 * RequestCoalescer::kRequestBytes);
}

TEST(RequestCoalescer, NeverLosesOrOverlapsOrders) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    RequestCoalescer book(0);
    std::multiset<std::uint64_t> wanted;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t record = random() % 40;  // some twice: two passes want them
      wanted.insert(record);
      book.add(request(record, record % 2, record * 30000, 30000));
    }
    std::multiset<std::uint64_t> taken;
    while (!book.empty()) {
      std::uint64_t end = 0;
      const std::vector<FetchRequest> requests = book.take({});
      for (const FetchRequest& one : requests) {
        EXPECT_EQ(one.extent.shard, requests.front().extent.shard);
        EXPECT_GE(one.extent.offset, end);
        end = one.extent.offset + one.extent.bytes;
        taken.insert(one.record);
      }
      EXPECT_LE(end - requests.front().extent.offset, RequestCoalescer::kRequestBytes);
    }
    EXPECT_EQ(taken, wanted);
  }
}

}  // namespace
}  // namespace echoline::engine
