// read.split and read.limit: which records are left, what they are, and that parts are disjoint.
#include <gmock/gmock.h>

#include <set>

#include "record/select/selected_set.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

constexpr int kRecords = 600;

class Selection : public RecordTest {
 protected:
  Selection() {
    for (int shard = 0; shard < 3; ++shard) {
      std::string tar;
      for (int i = 0; i < kRecords / 3; ++i) {
        const std::string key = std::to_string(shard * kRecords / 3 + i);
        tar += tar_member(key + ".txt", "text of " + key);
      }
      write(std::to_string(shard) + ".tar", tar + tar_end());
    }
  }
  v1::Read all() const { return read_of({path("0.tar"), path("1.tar"), path("2.tar")}); }
  v1::Read part(double from, double to, std::uint64_t seed = 0) const {
    v1::Read read = all();
    read.mutable_split()->set_from(from);
    read.mutable_split()->set_to(to);
    read.mutable_split()->set_seed(seed);
    return read;
  }
  static std::set<std::string> keys(const v1::Read& read) {
    std::set<std::string> found;
    for (const CutRecord& record : open(read).cut_all()) found.insert(record.key);
    return found;
  }
};

TEST_F(Selection, PartsAreDisjointAndTogetherTheWhole) {
  const std::set<std::string> training = keys(part(0, 0.7));
  const std::set<std::string> validation = keys(part(0.7, 1));
  EXPECT_EQ(training.size() + validation.size(), kRecords);
  std::set<std::string> both = training;
  both.insert(validation.begin(), validation.end());
  EXPECT_EQ(both.size(), kRecords);
  // Four standard deviations of 600 draws.
  EXPECT_NEAR(static_cast<double>(training.size()), 0.7 * kRecords, 45);
  EXPECT_NE(keys(part(0, 0.7, 1)), training);
}

TEST_F(Selection, ARecordStaysInItsPartWhereverItIs) {
  const std::set<std::string> before = keys(part(0, 0.5));
  write("one.tar", tar_member("7.txt", "x") + tar_member("new.txt", "y") +
                       tar_member("300.txt", "z") + tar_end());
  v1::Read read = part(0, 0.5);
  read.clear_url();
  read.add_url(path("one.tar"));
  const std::set<std::string> after = keys(read);
  for (const std::string key : {"7", "300"}) {
    EXPECT_EQ(after.contains(key), before.contains(key)) << key;
  }
}

TEST_F(Selection, ARecordHasItsOwnBytesAndItsShard) {
  const Opened chosen = open(part(0.2, 0.6));
  const Index& index = (*chosen.set)->index();
  std::uint64_t records = 0;
  for (const Shard& shard : index.shards()) {
    EXPECT_EQ(shard.first_record, records);
    records += shard.record_count;
  }
  EXPECT_EQ(records, index.record_count());
  std::uint64_t bytes = 0;
  for (std::uint64_t record = 0; record < index.record_count(); ++record) {
    const CutRecord cut = chosen.cut(record);
    EXPECT_EQ(cut.fields.at("txt"), "text of " + cut.key);
    const Extent extent = index.extent(record);
    bytes += extent.bytes;
    const Shard shard = index.shard(extent.shard);
    EXPECT_GE(record, shard.first_record);
    EXPECT_LT(record, shard.first_record + shard.record_count);
  }
  EXPECT_EQ(index.record_bytes_total(), bytes);
}

TEST_F(Selection, LimitKeepsTheFirstRecordsOfAPart) {
  v1::Read read = part(0, 0.5);
  const std::vector<CutRecord> whole = open(read).cut_all();
  read.set_limit(250);
  const std::vector<CutRecord> limited = open(read).cut_all();
  ASSERT_EQ(limited.size(), std::min<std::size_t>(250, whole.size()));
  EXPECT_TRUE(std::equal(limited.begin(), limited.end(), whole.begin()));
}

TEST_F(Selection, ChangesTheMetadataOfTheFingerprint) {
  const auto text = [](const v1::Read& read) { return (*open(read).set)->metadata_text(); };
  v1::Read limited = part(0, 0.5);
  limited.set_limit(9);
  EXPECT_EQ(std::set<std::string>({text(all()), text(part(0, 0.5)), text(part(0, 0.6)),
                                   text(part(0, 0.5, 1)), text(limited)})
                .size(),
            5U);
  // A completed configuration has the whole written out.
  EXPECT_EQ(text(part(0, 1)), text(all()));
}

TEST_F(Selection, APartWithoutRecordsIsAnError) {
  const Opened none = open(part(0.5, 0.5000001));
  EXPECT_EQ(none.set.status().code(), Code::kNotFound);
  EXPECT_THAT(none.set.status().message(), HasSubstr("none of the 600 records"));
}

}  // namespace
}  // namespace echoline::record
