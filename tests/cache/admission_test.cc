// The records that a cache level keeps: as many bytes as it has, evenly spread, different ones in
// each level.
#include "cache/admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "cache/made_records.h"

namespace echoline::cache {
namespace {

std::uint64_t bytes_where(const MadeDataSet& data, const std::function<bool(std::uint64_t)>& kept) {
  std::uint64_t bytes = 0;
  for (std::uint64_t record = 0; record < data.places.size(); ++record) {
    if (kept(record)) bytes += data.places[record].bytes;
  }
  return bytes;
}

// Number of records, smallest and largest size.
class DataSets
    : public testing::TestWithParam<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> {
 protected:
  MadeDataSet data() const {
    return std::apply([](auto... args) { return MadeDataSet(args...); }, GetParam());
  }
};

TEST_P(DataSets, ALevelKeepsItsCapacityToWithinOneRecord) {
  const MadeDataSet data = this->data();
  for (const double share : {0.01, 0.35, 0.65, 0.99}) {
    const auto capacity = static_cast<std::uint64_t>(share * static_cast<double>(data.bytes));
    const Admission admission(data.size(), {.memory = {capacity}});
    const std::uint64_t kept =
        bytes_where(data, [&](std::uint64_t record) { return admission.in_memory(record); });
    EXPECT_LE(kept, capacity);
    EXPECT_GE(kept + std::get<2>(GetParam()), capacity);
  }
}

TEST_P(DataSets, TheRecordsOfADiskFitWithTheirEntriesWhereverMemoryEnds) {
  const MadeDataSet data = this->data();
  constexpr std::uint64_t kOverhead = 64;
  const std::uint64_t capacity = data.bytes / 3;
  for (std::uint64_t part = 0; part < 10; ++part) {
    const Admission admission(
        data.size(), {.memory = {data.bytes * part / 11 + part}, .disk = {capacity, kOverhead}});
    std::uint64_t records = 0;
    const std::uint64_t bytes = bytes_where(data, [&](std::uint64_t record) {
      records += admission.on_disk(record) ? 1 : 0;
      return admission.on_disk(record);
    });
    // Admission looks only at every second record of the largest data set.
    const std::uint64_t guessed = data.places.size() > 4'000'000 ? capacity / 500 : 0;
    EXPECT_LE(bytes + records * kOverhead, capacity + guessed) << part;
    EXPECT_GE(bytes + records * kOverhead + std::get<2>(GetParam()) + kOverhead + guessed,
              capacity);
  }
}

TEST_P(DataSets, LevelsKeepDifferentRecordsUntilAllAreKept) {
  const MadeDataSet data = this->data();
  const Admission admission(data.size(), {{data.bytes / 5}, {data.bytes / 3}, {data.bytes / 4}});
  for (std::uint64_t record = 0; record < data.places.size(); ++record) {
    EXPECT_LE(admission.in_memory(record) + admission.on_disk(record) + admission.in_fleet(record),
              1);
  }
}

TEST_P(DataSets, ALevelThatReachesTheEndContinuesAtTheBeginning) {
  const MadeDataSet data = this->data();
  const Admission admission(data.size(),
                            {.memory = {data.bytes / 2}, .disk = {data.bytes / 4 * 3}});
  std::uint64_t both = 0;
  for (std::uint64_t record = 0; record < data.places.size(); ++record) {
    EXPECT_TRUE(admission.in_memory(record) || admission.on_disk(record)) << record;
    if (admission.in_memory(record) && admission.on_disk(record)) both += data.places[record].bytes;
  }
  EXPECT_NEAR(static_cast<double>(both), static_cast<double>(data.bytes) / 4,
              2.0 * static_cast<double>(std::get<2>(GetParam())));
}

TEST_P(DataSets, AFleetWithRoomForAllRecordsKeepsAll) {
  const MadeDataSet data = this->data();
  const Admission admission(data.size(), {{data.bytes / 5}, {data.bytes / 3}, {data.bytes}});
  for (std::uint64_t record = 0; record < data.places.size(); ++record) {
    EXPECT_TRUE(admission.in_fleet(record));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DataSets,
                         testing::Values(std::tuple(20, 100, 100), std::tuple(3000, 1000, 9000),
                                         std::tuple(20'000, 50'000, 200'000),
                                         std::tuple(5'000'000, 8, 8)));

TEST(Admission, TheRecordsThatNoLevelKeepsAreContiguousInTheirShard) {
  const MadeDataSet data(100'000, 4000, 4000);
  const Admission admission(data.size(), {.memory = {data.bytes * 65 / 100}});
  std::uint64_t runs = 0;
  std::uint64_t left = 0;
  for (std::uint64_t record = 1; record < data.places.size(); ++record) {
    const bool now = admission.in_memory(record);
    left += now ? 0 : 1;
    runs += !now && admission.in_memory(record - 1) ? 1 : 0;
  }
  EXPECT_GT(left / runs, 20U) << "a request to the store must cover at least 100 KB";
}

TEST(Admission, SpreadsRecordsEvenlyOverTheDataSet) {
  const MadeDataSet data(20'000, 50'000, 200'000);
  const Admission admission(data.size(), {.memory = {data.bytes * 35 / 100}});
  for (std::uint64_t part = 0; part < 10; ++part) {
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) kept += admission.in_memory(part * 2000 + i) ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(kept) / 2000, 0.35, 0.08) << part;
  }
}

}  // namespace
}  // namespace echoline::cache
