// Compressed shards give the same records as plain ones, in any order, within the configured disk
// space.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <zstd.h>

#include <filesystem>
#include <random>

#include "base/clock.h"
#include "record/index/unpacker.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

std::string zstd(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

// A stream of unknown length, with a window of 2^bits bytes.
std::string zstd_with_window(const std::string& plain, int bits) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, bits);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  ZSTD_inBuffer in{plain.data(), plain.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);  // so that the header has no length
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

class PackedTest : public RecordTest {
 protected:
  // Photos do not compress and text does, so both kinds of blocks occur.
  static std::string make_tar(int records, std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string tar;
    for (int i = 0; i < records; ++i) {
      std::string photo(bytes + random() % 1000, 'x');
      if (i % 3 != 0) {
        for (char& c : photo) c = static_cast<char>(random());
      }
      tar += tar_member(fmt::format("{:04d}.jpg", i), photo);
      tar += tar_member(fmt::format("{:04d}.cls", i), fmt::format("{}", random() % 10));
    }
    return tar + tar_end();
  }
  Opened opened(const std::string& name, std::uint64_t unpack = 0) const {
    v1::Read read = read_of({path(name)});
    if (unpack > 0) read.set_unpack(unpack);
    return open(read, path("state"));
  }
};

TEST_F(PackedTest, AnyPackingHasTheRecordsOfThePlainShards) {
  const std::string a = make_tar(40, 60'000, 1), b = make_tar(3, 10, 2);
  write("plain/a.tar", a);
  write("plain/b.tar", b);
  const Opened plain = opened("plain/*.tar");
  ASSERT_TRUE(plain.set.ok()) << plain.set.status().message();
  const auto expected = plain.cut_all();
  write("gz/a.tar.gz", gzip(a));
  write("gz/b.tgz", gzip(b));
  write("zst/a.tar.zst", zstd(a));
  write("zst/b.tar.zst", zstd(b));
  // Several members and frames, split anywhere; a plain shard between compressed ones.
  write("mixed/a.tar",
        gzip(a.substr(0, 700)) + gzip(a.substr(700, 100'000)) + gzip(a.substr(100'700)));
  write("mixed/b.tar", b);
  write("frames/a.tar", zstd(a.substr(0, 5)) + zstd(a.substr(5)));
  write("frames/b.tar", gzip(b) + std::string(100, '\0'));
  for (const std::string folder : {"gz", "zst", "mixed", "frames"}) {
    const Opened packed = opened(folder + "/*");
    ASSERT_TRUE(packed.set.ok()) << folder << packed.set.status().message();
    EXPECT_FALSE((*packed.set)->random_access());
    EXPECT_TRUE(packed.cut_all() == expected) << folder;
    // With the stored index nothing is read until a record is needed.
    const Opened again = opened(folder + "/*");
    const std::uint64_t opening = again.source->counters().bytes;
    EXPECT_LE(opening, (4U << 10) + (256U << 10));
    EXPECT_EQ(again.cut((*again.set)->index().record_count() - 1), expected.back()) << folder;
  }
  EXPECT_TRUE((*plain.set)->random_access());
}

TEST_F(PackedTest, EachShardIsUnpackedOnceHoweverItsRecordsAreAskedFor) {
  write("a.tar.gz", gzip(make_tar(50, 60'000, 1)));
  const std::uint64_t packed_bytes = std::filesystem::file_size(path("a.tar.gz"));
  ASSERT_TRUE(opened("a.tar.gz").set.ok());
  const Opened set = opened("a.tar.gz");
  const std::uint64_t opening = set.source->counters().bytes;
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(set.cut(i * 37 % 50).status.ok()) << i;
  EXPECT_EQ(set.source->counters().bytes - opening, packed_bytes);
  EXPECT_TRUE(std::filesystem::is_empty(path("state/unpacked")));  // the file has no name
}

TEST_F(PackedTest, WithRoomForOneShardOthersAreUnpackedAgain) {
  std::vector<CutRecord> expected;
  for (int shard = 0; shard < 6; ++shard) {
    write(fmt::format("plain/{}.tar", shard), make_tar(4, 100'000, shard));
    write(fmt::format("packed/{}.tar", shard), zstd(make_tar(4, 100'000, shard)));
  }
  expected = opened("plain/*").cut_all();
  const Opened set = opened("packed/*", 500'000);
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  // All at once: requests for more objects than fit on disk.
  std::vector<std::vector<std::byte>> bytes(24);
  std::vector<source::ReadResult> done;
  const Index& index = (*set.set)->index();
  for (std::uint64_t i = 0; i < 24; ++i) {
    const Extent extent = index.extent(i * 7 % 24);
    bytes[i].resize(extent.bytes);
    while (set.source->slots_free() == 0) set.source->poll(UINT64_MAX, done);
    set.source->submit({i, index.shard(extent.shard).object, {{extent.offset, bytes[i]}}});
  }
  while (done.size() < 24) set.source->poll(UINT64_MAX, done);
  EXPECT_EQ(set.source->counters().in_flight, 0U);
  for (const source::ReadResult& result : done) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    const std::uint64_t record = result.tag * 7 % 24;
    Fields fields;
    ASSERT_TRUE((*set.set)->cut(record, bytes[result.tag], fields).ok());
    EXPECT_TRUE(set.cut(record) == expected[record]);
  }
  const Opened too_small = opened("packed/*", 100'000);
  const CutRecord refused = too_small.cut(0);
  EXPECT_EQ(refused.status.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.status.message(), HasSubstr("read.unpack"));
}

TEST_F(PackedTest, DamageAndTruncationAreErrorsThatNameTheFile) {
  const std::string good = gzip(make_tar(5, 10'000, 3));
  for (const std::size_t size : {good.size() - 1, good.size() / 2, std::size_t{600}}) {
    write("a.tar.gz", good.substr(0, size));
    const Status status = opened("a.tar.gz").set.status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << size;
    EXPECT_THAT(status.message(), HasSubstr("a.tar.gz"));
    EXPECT_THAT(status.message(), HasSubstr("truncated"));
  }
  std::string bad = good;
  bad[bad.size() - 6] ^= 1;  // in the checksum at the end
  write("a.tar.gz", bad);
  EXPECT_THAT(opened("a.tar.gz").set.status().message(), HasSubstr("damaged"));
  write("a.tar.gz", gzip("hello"));
  EXPECT_THAT(open(read_of({path("a.tar.gz")}, "webdataset")).set.status().message(),
              HasSubstr("no tar archive"));
  write("a.tar.gz", gzip(std::string(2000, 'h')));
  EXPECT_EQ(opened("a.tar.gz").set.status().code(), Code::kUnimplemented);
}

TEST_F(PackedTest, AZstdWindowThatNoBudgetKnowsOfIsRefused) {
  const std::string tar = make_tar(30, 60'000, 1);
  write("usual.tar.zst", zstd_with_window(tar, 23));
  write("wide.tar.zst", zstd_with_window(tar, 24));
  EXPECT_TRUE(opened("usual.tar.zst").set.ok());
  const Opened wide = opened("wide.tar.zst");
  ASSERT_FALSE(wide.set.ok());
  EXPECT_EQ(wide.set.status().code(), Code::kUnimplemented);
  EXPECT_THAT(wide.set.status().message(),
              AllOf(HasSubstr("wide.tar.zst"), HasSubstr("window of more than 8 MiB")));
}

TEST_F(PackedTest, AnObjectThatChangedAfterItWasIndexedIsAnError) {
  write("a.tar.gz", gzip(make_tar(5, 10'000, 3)));
  const Opened set = opened("a.tar.gz");
  ASSERT_TRUE(set.set.ok());
  write("a.tar.gz", gzip(make_tar(5, 10'001, 4)));
  EXPECT_EQ(set.cut(0).status.code(), Code::kFailedPrecondition);
}

TEST_F(PackedTest, APublishedIndexSavesThePass) {
  write("a.tar.zst", zstd(make_tar(20, 60'000, 1)));
  const Opened first = open(read_of({path("a.tar.zst")}));
  ASSERT_TRUE(first.publish().ok());
  const Opened second = open(read_of({path("a.tar.zst")}, "webdataset"));
  EXPECT_LT(second.source->counters().bytes, 4096U);
  EXPECT_TRUE(second.cut_all() == first.cut_all());
}

TEST_F(PackedTest, TfRecordFilesMayBeZlibStreamsOfTensorFlow) {
  run_python(
      "import bz2, sys, zlib\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
      "write_tfrecord(sys.argv[2], [{'x': bytes([i]) * 300, 'i': i} for i in range(200)])\n"
      "data = open(sys.argv[2], 'rb').read()\n"
      "for level in range(10):\n"
      "    open(sys.argv[2] + '.z%d' % level, 'wb').write(zlib.compress(data, level))\n"
      "open(sys.argv[2] + '.bz2', 'wb').write(bz2.compress(data))\n"
      "open(sys.argv[2] + '.cut', 'wb').write(zlib.compress(data)[:-3])\n"
      "open(sys.argv[2] + '.other', 'wb').write(zlib.compress(b'something else' * 100))\n"
      "open(sys.argv[2] + '.no', 'wb').write(b'x\\x9cxxxxxx' * 100)\n",
      {ECHOLINE_SOURCE_DIR "/tests/record", path("a")});
  const Opened plain = opened("a");
  std::vector<std::string> names = {"a.bz2"};
  for (int level = 0; level < 10; ++level) names.push_back(fmt::format("a.z{}", level));
  for (const std::string& name : names) {
    const Opened packed = opened(name);
    ASSERT_TRUE(packed.set.ok()) << name << packed.set.status().message();
    EXPECT_EQ((*packed.set)->format(), "tfrecord");
    EXPECT_FALSE((*packed.set)->random_access());
    ASSERT_EQ((*packed.set)->index().record_count(), 200U);
    EXPECT_EQ(packed.cut(123).fields, plain.cut(123).fields) << name;
  }
  const Status cut = open(read_of({path("a.cut")}, "tfrecord")).set.status();
  EXPECT_EQ(cut.code(), Code::kDataLoss);
  EXPECT_THAT(cut.message(), HasSubstr("truncated"));
  for (const std::string name : {"a.other", "a.no"}) {
    EXPECT_THAT(opened(name).set.status().message(), HasSubstr("cannot tell the format")) << name;
    EXPECT_EQ(open(read_of({path(name)}, "tfrecord")).set.status().code(), Code::kDataLoss);
  }
}

TEST_F(PackedTest, TfRecordFilesMayBePackedToo) {
  run_python(
      "import gzip, sys\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
      "write_tfrecord(sys.argv[2], [{'x': bytes([i]) * 300, 'i': i} for i in range(200)])\n"
      "data = open(sys.argv[2], 'rb').read()\n"
      "open(sys.argv[2] + '.gz', 'wb').write(gzip.compress(data))\n"
      "open(sys.argv[2] + '.cut.gz', 'wb').write(gzip.compress(data[:-5]))\n",
      {ECHOLINE_SOURCE_DIR "/tests/record", path("a.tfrecord")});
  const Opened plain = opened("a.tfrecord"), packed = opened("a.tfrecord.gz");
  ASSERT_TRUE(packed.set.ok()) << packed.set.status().message();
  EXPECT_EQ((*packed.set)->format(), "tfrecord");
  ASSERT_EQ((*packed.set)->index().record_count(), 200U);
  EXPECT_EQ(packed.cut(123).fields, plain.cut(123).fields);
  const Opened cut = opened("a.tfrecord.cut.gz");
  ASSERT_EQ((*cut.set)->index().record_count(), 200U);
  EXPECT_TRUE(cut.cut(198).status.ok());
  EXPECT_EQ(cut.cut(199).status.code(), Code::kDataLoss);
}

}  // namespace
}  // namespace echoline::record
