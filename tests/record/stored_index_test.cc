// The index is built once, used while it fits, rebuilt if it does not, and found next to the data.
#include "record/index/stored_index.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

#include "base/clock.h"
#include "record/index/index_path.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

class StoredIndexTest : public RecordTest {
 protected:
  void write_shard(const std::string& name, int records, std::size_t bytes = 100) const {
    std::string tar;
    for (int i = 0; i < records; ++i) {
      tar += tar_member(fmt::format("{}-{}.jpg", name, i), std::string(bytes, 'j'));
      tar += tar_member(fmt::format("{}-{}.cls", name, i), fmt::format("{}", i));
    }
    write(name + ".tar", tar + tar_end());
  }
  v1::Read tars() const { return read_of({path("*.tar")}, "webdataset"); }
  std::string state() const { return path("state"); }
  std::string stored() const { return stored_index_path(tars(), "webdataset", state()); }

  // Bytes that opening reads from the shards and sidecar files.
  std::uint64_t bytes_to_open(std::uint64_t expected_records) const {
    const Opened opened = open(tars(), state());
    EXPECT_TRUE(opened.set.ok()) << opened.set.status().message();
    if (!opened.set.ok()) return 0;
    EXPECT_EQ((*opened.set)->index().record_count(), expected_records);
    for (const CutRecord& record : opened.cut_all()) EXPECT_EQ(record.fields.size(), 2U);
    const Opened again = open(tars(), state());
    return again.source->counters().bytes;
  }
};

TEST_F(StoredIndexTest, TheSecondOpeningReadsNothingOfTheShards) {
  write_shard("a", 3);
  write_shard("b", 2);
  const Opened first = open(tars(), state());
  EXPECT_GT(first.source->counters().bytes, 0U);
  ASSERT_TRUE(std::filesystem::exists(stored()));
  const Opened second = open(tars(), state());
  EXPECT_EQ(second.source->counters().bytes, 0U);
  EXPECT_EQ((*second.set)->index().record_count(), 5U);
  EXPECT_EQ(second.cut_all(), first.cut_all());
}

TEST_F(StoredIndexTest, AChangedShardIsIndexedAgainAndTheOthersAreNot) {
  write_shard("a", 3, 1 << 16);
  write_shard("b", 2, 50000);
  write_shard("c", 2, 1 << 16);
  ASSERT_TRUE(open(tars(), state()).set.ok());
  write_shard("b", 4, 100);
  const Opened opened = open(tars(), state());
  ASSERT_TRUE(opened.set.ok());
  EXPECT_EQ(opened.source->counters().bytes, std::filesystem::file_size(path("b.tar")));
  EXPECT_EQ((*opened.set)->index().record_count(), 9U);
  EXPECT_EQ((*opened.set)->index().key(3), path("b-0").substr(path("").size()));
  for (const CutRecord& record : opened.cut_all()) EXPECT_EQ(record.fields.size(), 2U);
}

TEST_F(StoredIndexTest, AddedAndRemovedShardsAreNoticed) {
  write_shard("b", 2);
  EXPECT_EQ(bytes_to_open(2), 0U);
  write_shard("a", 1);
  EXPECT_EQ(bytes_to_open(3), 0U);
  std::filesystem::remove(path("b.tar"));
  EXPECT_EQ(bytes_to_open(1), 0U);
}

TEST_F(StoredIndexTest, ACorruptFileIsRebuiltWhereverAByteIsFlipped) {
  write_shard("a", 3);
  ASSERT_TRUE(open(tars(), state()).set.ok());
  const std::string good = read(stored().substr(path("").size()));
  ASSERT_GT(good.size(), 100U);
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_FALSE(decode_index(std::as_bytes(std::span(bad))).ok()) << at;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{60}, good.size() - 1}) {
    write(stored().substr(path("").size()), good.substr(0, size));
    const Opened opened = open(tars(), state());
    ASSERT_TRUE(opened.set.ok());
    EXPECT_EQ((*opened.set)->index().record_count(), 3U);
    EXPECT_EQ(read(stored().substr(path("").size())), good);
  }
}

TEST_F(StoredIndexTest, APublishedIndexSavesThePassOverTheShards) {
  write_shard("a", 3, 5000);
  write_shard("b", 2, 5000);
  const Opened built = open(tars());
  const auto written = built.publish();
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(*written, 2U);
  const Opened opened = open(tars());
  EXPECT_EQ(opened.source->counters().bytes,
            std::filesystem::file_size(path("a.tar.echoline-index")) +
                std::filesystem::file_size(path("b.tar.echoline-index")));
  EXPECT_EQ(opened.cut_all(), built.cut_all());
  // A listing leaves out index files, also incomplete ones of a killed process.
  write("a.tar.Xf31oa.echoline-index", "half");
  EXPECT_EQ((*open(read_of({path("")})).set)->index().shards().size(), 2U);
}

TEST_F(StoredIndexTest, APublishedIndexOfAnotherSizeOrDamagedIsNotUsed) {
  write_shard("a", 3);
  write_shard("b", 3);
  ASSERT_TRUE(open(tars()).publish().ok());
  write_shard("a", 30);
  std::string damaged = read("b.tar.echoline-index");
  damaged[damaged.size() / 2] ^= 1;
  write("b.tar.echoline-index", damaged);
  const Opened opened = open(tars());
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->index().record_count(), 33U);
}

TEST_F(StoredIndexTest, AShardThatIsAnotherOneSinceItsIndexWasPublishedIsReadAnew) {
  write_shard("a", 3);
  write_shard("b", 3);
  ASSERT_TRUE(open(tars()).publish().ok());
  std::filesystem::copy_file(path("b.tar"), path("a.tar"),
                             std::filesystem::copy_options::overwrite_existing);
  const CutRecord cut = open(tars()).cut(0);
  EXPECT_TRUE(cut.status.ok()) << cut.status.message();
}

TEST_F(StoredIndexTest, AnInterruptedPassContinuesAfterTheShardsThatItHasScanned) {
  constexpr int kShards = 40;
  for (int i = 0; i < kShards; ++i) write_shard(fmt::format("s{:02d}", i), 2, 100 << 10);
  std::uint64_t scanned = 0;
  const auto stop_at_half = [&](const Progress& seen) {
    scanned = seen.shards_done;
    return seen.shards_done < kShards / 2 ? Status() : Status(Code::kCancelled, "stopped");
  };
  v1::Read read = tars();
  read.mutable_throttle()->set_rate(40 << 20);  // so that there is a report every few shards
  EXPECT_EQ(open(read, state(), stop_at_half).set.status().code(), Code::kCancelled);
  const std::string journal = stored() + ".part";
  ASSERT_TRUE(std::filesystem::exists(journal));
  ASSERT_FALSE(std::filesystem::exists(stored()));
  // As a killed process may leave it.
  const std::string name = journal.substr(path("").size());
  write(name, this->read(name) + std::string("\x99\0\0\0\0\0\0\0half", 12));

  const Opened opened = open(tars(), state());
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  const std::uint64_t shard_bytes = std::filesystem::file_size(path("s00.tar"));
  EXPECT_LE(opened.source->counters().bytes, (kShards - scanned) * shard_bytes);
  EXPECT_EQ((*opened.set)->index().record_count(), 2U * kShards);
  EXPECT_EQ(opened.cut_all(), open(tars()).cut_all());
  EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST_F(StoredIndexTest, AShardThatChangedAfterTheInterruptionIsScannedAgain) {
  write_shard("a", 2);
  write_shard("b", 2);
  const auto stop = [](const Progress& seen) {
    return seen.shards_done < 2 ? Status() : Status(Code::kCancelled, "stopped");
  };
  ASSERT_FALSE(open(tars(), state(), stop).set.ok());
  write_shard("b", 5);
  const Opened opened = open(tars(), state());
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->index().record_count(), 7U);
}

// At another address an index is matched to its shard by size only.
TEST_F(StoredIndexTest, AnIndexOfAnotherShardOfTheSameSizeIsNoticedWhenCutting) {
  write_shard("a", 3);
  write_shard("b", 3);
  ASSERT_TRUE(open(tars()).publish().ok());
  std::filesystem::create_directory(path("copy"));
  std::filesystem::copy_file(path("b.tar"), path("copy/a.tar"));
  std::filesystem::copy_file(path("a.tar.echoline-index"), path("copy/a.tar.echoline-index"));
  const CutRecord cut = open(read_of({path("copy/a.tar")})).cut(0);
  EXPECT_EQ(cut.status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(cut.status.message(), HasSubstr("the index is another shard's"));
}

TEST_F(StoredIndexTest, FormatsWithoutAnIndexHaveNothingToPublish) {
  write("t.bin", std::string(64, '\0'));
  v1::Read read = read_of({path("t.bin")}, "tokens");
  read.mutable_tokens()->set_length(4);
  const Opened tokens = open(read);
  ASSERT_TRUE(tokens.set.ok());
  EXPECT_EQ(tokens.publish().status().code(), Code::kInvalidArgument);
}

TEST_F(StoredIndexTest, AMillionRecordsLoadInUnderASecond) {
  StoredIndex index;
  constexpr std::uint64_t kShards = 100, kEach = 10'000;
  for (std::uint64_t s = 0; s < kShards; ++s) {
    Shard shard;
    shard.object = {fmt::format("s3://bucket/train-{:06}.tar", s), kEach * 1024, "\"0123abcd\""};
    shard.first_record = s * kEach;
    shard.record_count = kEach;
    index.shards.push_back(shard);
    for (std::uint64_t i = 0; i < kEach; ++i) {
      index.records.add(i * 1024, 1024, fmt::format("n{:08}_{:06}", s, i));
    }
  }
  ASSERT_TRUE(write_index_file(path("million.idx"), index).ok());
  const std::uint64_t start = monotonic_ns();
  const auto loaded = read_index_file(path("million.idx"));
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->records.size(), kShards * kEach);
  EXPECT_EQ(loaded->records.key(999'999), "n00000099_009999");
  EXPECT_EQ(loaded->shards[99].object.url, index.shards[99].object.url);
  EXPECT_LT(seconds, 1.0);
  const std::uint64_t held =
      loaded->records.offset.capacity() * 24 + loaded->records.keys.capacity();
  EXPECT_LE(held, kShards * kEach * (24 + 16) + 64);
  RecordProperty("load_ms", static_cast<int>(seconds * 1000));
}

TEST_F(StoredIndexTest, WhereRequestsAreSlowTheShardIsReadInOneGo) {
  write_shard("a", 300);
  v1::Read read = tars();
  const Opened local = open(read);
  EXPECT_GE(local.source->counters().requests_ok, 5U);
  read.mutable_throttle()->set_latency(1'000'000);
  const Opened slow = open(read);
  ASSERT_TRUE(slow.set.ok()) << slow.set.status().message();
  EXPECT_EQ(slow.source->counters().requests_ok, 1U);
  EXPECT_EQ((*slow.set)->index().record_count(), 300U);
}

TEST_F(StoredIndexTest, ProgressThatFailsEndsTheBuilding) {
  write_shard("a", 3);
  const auto leave = [](const Progress&) { return Status(Code::kCancelled, "left"); };
  const Opened opened = open(tars(), "", leave);
  ASSERT_FALSE(opened.set.ok());
  EXPECT_EQ(opened.set.status().code(), Code::kCancelled);
  EXPECT_EQ(opened.set.status().message(), "left");
}

TEST_F(StoredIndexTest, ProgressEndsWithEverythingDone) {
  write_shard("a", 3);
  write_shard("b", 2);
  Progress last;
  const Opened opened = open(tars(), "", [&last](const Progress& progress) {
    last = progress;
    return Status();
  });
  ASSERT_TRUE(opened.set.ok());
  EXPECT_EQ(last.shards_done, 2U);
  EXPECT_EQ(last.shards, 2U);
  EXPECT_EQ(last.records, 5U);
  EXPECT_EQ(last.bytes_done, last.bytes);
}

}  // namespace
}  // namespace echoline::record
