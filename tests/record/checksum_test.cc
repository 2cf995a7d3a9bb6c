// Checksums of records: which index has them, that they match the bytes, and what happens to bytes
// that do not match.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <random>

#include "base/crc.h"
#include "record/core/record_check.h"
#include "record/index/checksum_scan.h"
#include "record/index/stored_index.h"
#include "record/open/detect.h"
#include "record/open/open_data_set.h"
#include "record/tar/webdataset.h"
#include "record_fixture.h"
#include "source/open/open_source.h"

namespace echoline::record {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Passes everything on, with one bit of the first answers flipped, each in another place. As a
// store whose bytes need `needed` equal answers.
class FlippingSource final : public source::Source {
 public:
  FlippingSource(std::unique_ptr<source::Source> inner, int flipped, std::uint32_t needed = 0)
      : inner_(std::move(inner)), left_(flipped), needed_(needed) {}
  Result<std::vector<source::ObjectInfo>> list(const std::string& url) override {
    return inner_->list(url);
  }
  Status put(const std::string& url, const std::string& bytes) override {
    return inner_->put(url, bytes);
  }
  void submit(source::ReadRequest request) override {
    destinations_[request.tag] = request.segments.front().destination;
    inner_->submit(std::move(request));
  }
  std::size_t slots_free() const override { return inner_->slots_free(); }
  void poll(std::uint64_t deadline_ns, std::vector<source::ReadResult>& done) override {
    const std::size_t before = done.size();
    inner_->poll(deadline_ns, done);
    for (std::size_t i = before; i < done.size(); ++i) {
      const std::span<std::byte> bytes = destinations_.at(done[i].tag);
      ++answers;
      const std::size_t place = (bytes.size() / 2 + static_cast<std::size_t>(left_)) % bytes.size();
      if (left_-- > 0) bytes[place] ^= std::byte{4};
    }
  }
  std::uint32_t answers_needed() const override { return needed_; }
  void count_damaged() override { ++damaged; }
  void wake() override { inner_->wake(); }
  source::Counters counters() const override { return inner_->counters(); }

  int answers = 0;
  int damaged = 0;

 private:
  const std::unique_ptr<source::Source> inner_;
  int left_;
  const std::uint32_t needed_;
  std::map<std::uint64_t, std::span<std::byte>> destinations_;
};

std::unique_ptr<FlippingSource> flipping_source(const v1::Read& read, int flipped,
                                                std::uint32_t needed) {
  auto source = source::open_source(read);
  return std::make_unique<FlippingSource>(std::move(*source), flipped, needed);
}

class ChecksumTest : public RecordTest {
 protected:
  static std::string random_bytes(std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }
  // With files that belong to no record, before, within and after records.
  static std::string make_tar(int records, unsigned seed = 1) {
    std::string tar = tar_member("README", random_bytes(3000, seed));
    for (int i = 0; i < records; ++i) {
      tar += tar_member(fmt::format("{:04d}.jpg", i), random_bytes(1 + i * 997 % 20'000, seed + i));
      if (i % 3 == 0) tar += tar_member("notes", random_bytes(4000, seed));
      tar += tar_member(fmt::format("{:04d}.cls", i), fmt::format("{}", i));
      if (i % 5 == 0) tar += tar_member(".hidden", random_bytes(2000, seed));
    }
    return tar + tar_end();
  }
  Opened open_all(const std::string& address, const std::string& state = "") const {
    return open(read_of({path(address)}), state, {}, Checksums::kAll);
  }
  static void expect_all_agree(const Opened& opened, const std::string& what) {
    ASSERT_TRUE(opened.set.ok()) << what << ": " << opened.set.status().message();
    const Index& index = (*opened.set)->index();
    for (std::uint64_t i = 0; i < index.record_count(); ++i) {
      const Extent extent = index.extent(i);
      const auto bytes = source::read_range(*opened.source, index.shard(extent.shard).object,
                                            extent.offset, extent.bytes);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      EXPECT_EQ(index.checksum(i), crc32c(0, *bytes)) << what << ", record " << i;
    }
  }
  static RecordTable scan(const std::string& tar, std::size_t window, std::uint64_t skip_bytes) {
    const auto scan = tar_scan_spec().make_scan({"a.tar", tar.size(), ""}, skip_bytes);
    const auto all = std::as_bytes(std::span(tar));
    while (!scan->done()) {
      const auto rest = all.subspan(scan->position());
      const std::size_t bytes = std::max<std::size_t>(window, scan->needed());
      const Status status = scan->take(rest.first(std::min(bytes, rest.size())));
      EXPECT_TRUE(status.ok()) << status.message();
      if (!status.ok()) break;
    }
    return scan->take_table();
  }
};

TEST_F(ChecksumTest, WhateverTheWindowTheyAreThoseOfTheRecordsBytes) {
  const std::string tar = make_tar(40);
  const RecordTable plain = scan(tar, 512, 0);
  EXPECT_TRUE(plain.checksum.empty());
  for (const std::size_t window : {512, 513, 1000, 4096, 70'001, 10'000'000}) {
    const RecordTable table = scan(tar, window, kSkipNothing);
    EXPECT_EQ(table.offset, plain.offset) << window;
    EXPECT_EQ(table.bytes, plain.bytes) << window;
    ASSERT_EQ(table.checksum.size(), 40U) << window;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto bytes = std::as_bytes(std::span(tar)).subspan(table.offset[i], table.bytes[i]);
      EXPECT_EQ(table.checksum[i], crc32c(0, bytes)) << window << ", record " << i;
    }
  }
}

TEST_F(ChecksumTest, RecordsOfWhichAPartWasSkippedHaveNoneAndTheOthersDo) {
  const std::string tar = tar_member("a.jpg", random_bytes(9000, 1)) +
                          tar_member("b.jpg", random_bytes(90'000, 2)) + tar_member("b.cls", "2") +
                          tar_member("c.jpg", random_bytes(9000, 3)) + tar_end();
  const RecordTable table = scan(tar, 1024, 20'000);
  ASSERT_EQ(table.checksum.size(), 3U);
  EXPECT_NE(table.checksum[0], 0U);
  EXPECT_EQ(table.checksum[1], 0U);
  EXPECT_NE(table.checksum[2], 0U);
}

TEST_F(ChecksumTest, OfAllTheyAreInTheIndexOfEveryScannedFormat) {
  write("plain.tar", make_tar(30));
  write("packed.tar.gz", gzip(make_tar(30)));
  write("cut.tar", make_tar(30).substr(0, 100'000));
  run_python(
      "import sys\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
      "write_tfrecord(sys.argv[2], [{'x': bytes([i]) * 3000, 'i': i} for i in range(200)])\n"
      "write_mds(sys.argv[3], {'x': 'str'}, [{'x': b'%d' % i * 500} for i in range(90)], 40)\n",
      {ECHOLINE_SOURCE_DIR "/tests/record", path("a.tfrecord"), path("mds")});
  for (const std::string address :
       {"plain.tar", "packed.tar.gz", "cut.tar", "a.tfrecord", "mds/"}) {
    expect_all_agree(open_all(address), address);
  }
}

TEST_F(ChecksumTest, AnIndexHasThemWhereMakingItReadsTheBytes) {
  write("plain.tar", make_tar(30));
  write("packed.tar.gz", gzip(make_tar(30)));
  v1::Read local = read_of({path("plain.tar")});
  EXPECT_EQ((*open(local).set)->index().checksum(0), 0U);
  expect_all_agree(open(read_of({path("packed.tar.gz")})), "packed");
  local.mutable_throttle()->set_latency(1'000'000);  // read like a store
  expect_all_agree(open(local), "store");
}

TEST_F(ChecksumTest, OfAllReplacesTheStoredIndexAndIsPublished) {
  write("a.tar", make_tar(30));
  EXPECT_EQ((*open(read_of({path("a.tar")}), path("state")).set)->index().checksum(0), 0U);
  const Opened all = open_all("a.tar", path("state"));
  const Opened later = open(read_of({path("a.tar")}), path("state"));
  EXPECT_LE(later.source->counters().bytes, 4096U) << "what tells the format";
  expect_all_agree(later, "from the state folder");
  ASSERT_TRUE(all.publish().ok());
  expect_all_agree(open(read_of({path("a.tar")})), "from next to the shard");
  v1::Read believing = read_of({path("a.tar")});
  believing.set_checksums("none");
  EXPECT_EQ((*open(believing).set)->index().checksum(0), 0U);
}

TEST_F(ChecksumTest, TheFileIsOfTheOldLayoutWithoutThemAndRefusedWhereTheirNumberIsWrong) {
  StoredIndex index;
  index.shards.push_back({{"a.tar", 4096, ""}, 0, 2, 0});
  index.records.add(0, 1024, "a");
  index.records.add(1024, 512, "b");
  const auto layout = [](const std::string& file) { return static_cast<int>(file[8]); };
  const std::string without = encode_index(index);
  EXPECT_EQ(layout(without), 2);
  index.records.checksum = {7, 0};
  const std::string with = encode_index(index);
  EXPECT_EQ(layout(with), 3);
  EXPECT_EQ(with.size(), without.size() + 8);
  const auto decoded = decode_index(std::as_bytes(std::span(with)));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->records.checksum, index.records.checksum);
  index.records.checksum.pop_back();
  const std::string short_one = encode_index(index);
  const auto refused = decode_index(std::as_bytes(std::span(short_one)));
  EXPECT_EQ(refused.status().code(), Code::kDataLoss);
  EXPECT_THAT(refused.status().message(), HasSubstr("corrupt index"));
}

TEST_F(ChecksumTest, ARecordThatDisagreesIsReadAgainAndInTheEndAnErrorThatSaysWhatToDo) {
  write("a.tar", make_tar(30));
  Opened opened = open_all("a.tar");
  const Index& index = (*opened.set)->index();
  const auto expected = read_record(index, 7, *opened.source);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  FlippingSource thrice(std::move(opened.source), 3);
  const auto again = read_record(index, 7, thrice);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, *expected);
  FlippingSource always(open_all("a.tar").source, 4);
  const Status refused = read_record(index, 7, always).status();
  EXPECT_EQ(refused.code(), Code::kDataLoss);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("a.tar"), HasSubstr(fmt::format("from {}", index.extent(7).offset)),
                    HasSubstr("record 0007"), HasSubstr(fmt::format("{:08x}", index.checksum(7))),
                    HasSubstr("echoline index --checksums")));
  EXPECT_TRUE(read_record(index, 7, always).ok()) << "the source flips four answers only";
}

TEST_F(ChecksumTest, CompressedBytesThatChangedOnTheWayAreUnpackedAnew) {
  write("a.tar.gz", gzip(make_tar(30)));
  Opened opened = open(read_of({path("a.tar.gz")}), path("state"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  const auto expected = opened.cut_all();
  const auto flipping = [&](int answers) {
    auto source = source::open_source(read_of({path("a.tar.gz")}));
    return (*opened.set)->reading(std::make_unique<FlippingSource>(std::move(*source), answers));
  };
  opened.source = flipping(7);
  EXPECT_EQ(opened.cut_all(), expected);
  EXPECT_EQ(opened.source->counters().requests_retried, 1U)
      << "the second time each piece is read until two answers are equal";
  opened.source = flipping(9);
  const Status refused = opened.cut(0).status;
  EXPECT_EQ(refused.code(), Code::kDataLoss);
  EXPECT_THAT(refused.message(), HasSubstr("a.tar.gz"));
  EXPECT_EQ(opened.cut_all(), expected);
}

TEST(RecordAnswers, ATrustedChecksumDecidesAlone) {
  using enum AnswerVerdict;
  RecordAnswers answers;
  const KnownChecksum trusted{7, true};
  EXPECT_EQ(answers.judge(trusted, 2, 9, false), kWrong);
  EXPECT_EQ(answers.judge(trusted, 2, 9, false), kWrong) << "equal answers do not help";
  EXPECT_EQ(answers.judge(trusted, 2, 7, false), kAgreed);
  EXPECT_EQ(answers.judge(trusted, 2, 9, true), kWrong) << "nor the store's checksum";
  EXPECT_EQ(answers.judge(trusted, 2, 8, false), kFailed);
}

TEST(RecordAnswers, TwoEqualAnswersReplaceAChecksumThatWasMadeFromOne) {
  using enum AnswerVerdict;
  RecordAnswers answers;
  const KnownChecksum known{7, false};
  for (std::uint32_t other = 1; other < 4; ++other) {
    EXPECT_EQ(answers.judge(known, 1, other, false), kWrong);
  }
  EXPECT_EQ(RecordAnswers(answers).judge(known, 1, 2, false), kReplaced);
  EXPECT_EQ(RecordAnswers(answers).judge(known, 1, 8, true), kReplaced) << "the store agrees";
  EXPECT_EQ(answers.judge(known, 1, 7, false), kAgreed);
  for (std::uint32_t other = 10; other < 14; ++other) {
    EXPECT_EQ(answers.judge(known, 1, other, false), kWrong);
  }
  EXPECT_EQ(answers.judge(known, 1, 20, false), kFailed) << "eight different answers";
}

TEST(RecordAnswers, WithoutAChecksumTwoEqualAnswersAreNeededWhereNothingElseProtects) {
  using enum AnswerVerdict;
  EXPECT_EQ(RecordAnswers().judge({}, 0, 5, false), kUnchecked);
  EXPECT_EQ(RecordAnswers().judge({}, 1, 5, false), kCertain);
  EXPECT_EQ(RecordAnswers().judge({}, 2, 5, true), kCertain);
  RecordAnswers answers;
  EXPECT_EQ(answers.judge({}, 2, 5, false), kRepeat);
  EXPECT_EQ(answers.judge({}, 2, 6, false), kWrong);
  EXPECT_EQ(answers.judge({}, 2, 5, false), kCertain);
}

TEST_F(ChecksumTest, SmallReadsAreRepeatedUntilTwoAnswersAreEqual) {
  write("a.bin", random_bytes(5000, 1));
  const auto opened = source::open_source(read_of({path("a.bin")}));
  const source::ObjectInfo object = (*opened)->list(path("a.bin")).value().front();
  const auto expected = source::read_range(**opened, object, 100, 900).value();
  const v1::Read read = read_of({path("a.bin")});
  const auto once = flipping_source(read, 1, 2);
  EXPECT_EQ(source::read_range(*once, object, 100, 900).value(), expected);
  EXPECT_EQ(once->answers, 3);
  EXPECT_EQ(once->damaged, 1);
  const auto always = flipping_source(read, 100, 2);
  const Status refused = source::read_range(*always, object, 100, 900).status();
  EXPECT_EQ(refused.code(), Code::kDataLoss);
  EXPECT_THAT(refused.message(), HasSubstr("different in each of 8 answers"));
  const auto trusting = flipping_source(read, 1, 1);
  EXPECT_NE(source::read_range(*trusting, object, 100, 900).value(), expected);
}

// The data set as a store gives it whose first answers are flipped.
class FlippedIndex : public ChecksumTest {
 protected:
  struct Found {
    std::vector<Extent> extents;
    std::vector<std::string> keys;
    bool operator==(const Found& other) const {
      return keys == other.keys && std::equal(extents.begin(), extents.end(), other.extents.begin(),
                                              other.extents.end(), [](auto& a, auto& b) {
                                                return a.shard == b.shard && a.offset == b.offset &&
                                                       a.bytes == b.bytes;
                                              });
    }
  };
  static Found found(const DataSet& set) {
    Found all;
    for (std::uint64_t i = 0; i < set.index().record_count(); ++i) {
      all.extents.push_back(set.index().extent(i));
      all.keys.push_back(set.index().key(i));
    }
    return all;
  }
  static void expect_the_same(const v1::Read& read, std::uint32_t needed) {
    const Opened plain = open(read);
    ASSERT_TRUE(plain.set.ok()) << plain.set.status().message();
    for (int flipped = 1; flipped < 4; ++flipped) {
      const auto source = flipping_source(read, flipped, needed);
      const auto set = open_data_set(read, *source, "", {}, {});
      ASSERT_TRUE(set.ok()) << read.url(0) << ": " << set.status().message();
      EXPECT_EQ(found(**set), found(*plain.set->get())) << read.url(0);
    }
  }
};

TEST_F(FlippedIndex, IsTheSameForEveryFormatWhereAnswersAreCompared) {
  write("plain.tar", make_tar(30));
  write("packed.tar.gz", gzip(make_tar(30)));
  run_python(
      "import sys\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
      "write_tfrecord(sys.argv[2], [{'x': bytes([i]) * 3000, 'i': i} for i in range(200)])\n"
      "write_mds(sys.argv[3], {'x': 'str'}, [{'x': b'%d' % i * 500} for i in range(90)], 40)\n",
      {ECHOLINE_SOURCE_DIR "/tests/record", path("a.tfrecord"), path("mds")});
  const std::map<std::string, std::string> formats = {{"plain.tar", "webdataset"},
                                                      {"packed.tar.gz", "webdataset"},
                                                      {"a.tfrecord", "tfrecord"},
                                                      {"mds/", "mds"}};
  for (const auto& [address, format] : formats) {
    expect_the_same(read_of({path(address)}), 2);          // the first answers are of the detection
    expect_the_same(read_of({path(address)}, format), 2);  // and here of the index pass
  }
}

TEST_F(FlippedIndex, FirstBytesThatCannotBeUnderstoodAreReadAgain) {
  // The probe reads the whole file, and the flipped byte is in its only header.
  write("one.tar", tar_member("0.jpg", "").substr(0, 512));
  const v1::Read read = read_of({path("one.tar")});
  const auto source = flipping_source(read, 1, 1);
  const auto listed = list_all(read, *source);
  const auto format = detect_format(read, *listed, *source);
  ASSERT_TRUE(format.ok()) << format.status().message();
  EXPECT_EQ((*format)->name, "webdataset");
  EXPECT_EQ(source->damaged, 1);
}

TEST_F(ChecksumTest, WhetherTheyAreTrustedIsInTheFileAndSeveralTablesAreIfAllAre) {
  StoredIndex index;
  index.shards.push_back({{"a.tar", 4096, ""}, 0, 1, 0});
  index.records.add(0, 1024, "a");
  index.records.checksum = {7};
  const auto decoded = [&index] {
    const std::string file = encode_index(index);
    return decode_index(std::as_bytes(std::span(file)))->records.trusted;
  };
  EXPECT_FALSE(decoded()) << "as in files of earlier versions";
  index.records.trusted = true;
  EXPECT_TRUE(decoded());
  RecordTable both, none;
  none.add(0, 10, "b");
  both.append(index.records, 0, 1);
  both.append(none, 0, 1);
  EXPECT_TRUE(both.trusted) << "records without a checksum do not count";
  index.records.trusted = false;
  both.append(index.records, 0, 1);
  EXPECT_FALSE(both.trusted);
  write("a.tar", make_tar(3));
  EXPECT_TRUE((*open_all("a.tar").set)->index().trusts_checksums());
}

}  // namespace
}  // namespace echoline::record
