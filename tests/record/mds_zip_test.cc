// MDS shards that are compressed as a whole have the samples of plain ones.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pack_bytes.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

class MdsZip : public RecordTest {
 protected:
  using Pack = std::string (*)(const std::string& plain);

  // 60 samples of 20 KB in shards of 25, plain.
  void SetUp() override {
    run_python(
        "import sys\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
        "columns = {'text': 'bytes', 'id': 'int'}\n"
        "samples = [{'text': b'sample %d ' % i * 2000, 'id': struct.pack('<q', i)} "
        "for i in range(60)]\n"
        "write_mds(sys.argv[2], columns, samples, 25)\n",
        {ECHOLINE_SOURCE_DIR "/tests/record", path("plain")});
  }
  // The same data set in another folder, with compressed shards; `named` as in index.json.
  void zip(const std::string& folder, const std::string& named, Pack pack) const {
    auto index = nlohmann::json::parse(read("plain/index.json"));
    for (auto& shard : index["shards"]) {
      const std::string raw = shard["raw_data"]["basename"];
      const std::string name = raw + "." + named.substr(0, named.find(':'));
      const std::string packed = pack(read("plain/" + raw));
      write(folder + "/" + name, packed);
      shard["compression"] = named;
      shard["zip_data"] = {{"basename", name}, {"bytes", packed.size()}, {"hashes", {}}};
    }
    write(folder + "/index.json", index.dump());
  }
  Opened opened(const std::string& folder, const std::string& state = "",
                Checksums checksums = Checksums::kIfRead) const {
    return open(read_of({path(folder)}, "mds"), state, {}, checksums);
  }
  // The keys have the names of the files.
  static std::vector<std::map<std::string, std::string>> fields(const Opened& set) {
    std::vector<std::map<std::string, std::string>> all;
    for (const CutRecord& record : set.cut_all()) {
      EXPECT_TRUE(record.status.ok()) << record.status.message();
      all.push_back(record.fields);
    }
    return all;
  }
};

TEST_F(MdsZip, EachCompressionOfStreamingGivesTheSamplesOfPlainShards) {
  const auto expected = fields(opened("plain"));
  ASSERT_EQ(expected.size(), 60U);
  const std::vector<std::pair<std::string, Pack>> kinds = {
      {"zstd", [](const std::string& plain) { return zstd_bytes(plain); }},
      {"zstd:19", [](const std::string& plain) { return zstd_bytes(plain, 19); }},
      {"br:11", [](const std::string& plain) { return brotli_bytes(plain); }},
      {"bz2", [](const std::string& plain) { return bzip2_bytes(plain); }},
      {"snappy", [](const std::string& plain) { return snappy_bytes(plain, 20'000); }}};
  for (const auto& [named, pack] : kinds) {
    zip(named, named, pack);
    const Opened set = opened(named, path("state"));
    ASSERT_TRUE(set.set.ok()) << named << ": " << set.set.status().message();
    EXPECT_FALSE((*set.set)->random_access());
    EXPECT_TRUE(fields(set) == expected) << named;
    EXPECT_TRUE(fields(opened(named, path("state"))) == expected) << named;
    const Opened checked = opened(named, "", Checksums::kAll);
    ASSERT_TRUE(checked.set.ok()) << checked.set.status().message();
    EXPECT_NE((*checked.set)->index().checksum(59), 0U);
    EXPECT_TRUE(fields(checked) == expected) << named;
  }
}

TEST_F(MdsZip, PythonsGzipIsReadOnlyUpToTheTablesOfItsShards) {
  run_python(
      "import gzip, json, os, pathlib, sys\nplain, out = map(pathlib.Path, sys.argv[1:])\n"
      "out.mkdir()\nindex = json.loads((plain / 'index.json').read_text())\n"
      "for shard in index['shards']:\n"
      "    raw = (plain / shard['raw_data']['basename']).read_bytes()\n"
      "    data = gzip.compress(raw, 0)\n"
      "    name = shard['raw_data']['basename'] + '.gz'\n"
      "    (out / name).write_bytes(data)\n"
      "    shard.update(compression='gz:0', zip_data={'basename': name, 'bytes': len(data)})\n"
      "(out / 'index.json').write_text(json.dumps(index))\n",
      {path("plain"), path("gz")});
  const Opened set = opened("gz/index.json");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_LE(set.source->counters().bytes,
            std::filesystem::file_size(path("gz/index.json")) + 3 * 65536);
  EXPECT_TRUE(fields(set) == fields(opened("plain")));
}

TEST_F(MdsZip, AShardThatUnpacksToAnotherSizeIsRefused) {
  const auto set_bytes = [this](std::int64_t more, const char* data) {
    auto index = nlohmann::json::parse(read("plain/index.json"));
    for (auto& shard : index["shards"]) {
      const std::string name = shard["raw_data"]["basename"].get<std::string>() + ".zstd";
      const std::string packed = zstd_bytes(read("plain/" + name.substr(0, name.size() - 5)));
      write("zip/" + name, packed);
      shard["compression"] = "zstd";
      shard["zip_data"] = {{"basename", name}, {"bytes", packed.size()}};
      shard[data]["bytes"] = shard[data]["bytes"].get<std::int64_t>() + more;
    }
    write("zip/index.json", index.dump());
  };
  // A bomb: unpacking ends at the size in the index, at the latest when a sample is read.
  set_bytes(-10, "raw_data");
  EXPECT_EQ(opened("zip").set.status().code(), Code::kDataLoss);
  set_bytes(10, "raw_data");
  const Opened longer = opened("zip");
  ASSERT_TRUE(longer.set.ok()) << longer.set.status().message();
  EXPECT_EQ(longer.cut(3).status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(longer.cut(3).status.message(), HasSubstr(".mds.zstd"));
  const Status all = opened("zip", "", Checksums::kAll).set.status();
  EXPECT_EQ(all.code(), Code::kDataLoss);
  EXPECT_THAT(all.message(), HasSubstr("that the index of its data set says"));
  set_bytes(1, "zip_data");
  EXPECT_THAT(opened("zip").set.status().message(), HasSubstr("shard.00000.mds.zstd has not the"));
}

TEST_F(MdsZip, UnpackedShardsNextToTheIndexAreReadInAnyOrder) {
  zip("plain", "snappy", [](const std::string& plain) { return snappy_bytes(plain, 20'000); });
  const Opened both = opened("plain");
  ASSERT_TRUE(both.set.ok()) << both.set.status().message();
  EXPECT_TRUE((*both.set)->random_access());
  for (int shard = 0; shard < 3; ++shard) {
    std::filesystem::remove(path(fmt::format("plain/shard.{:05}.mds.snappy", shard)));
  }
  EXPECT_TRUE((*opened("plain").set)->random_access());
  std::filesystem::remove(path("plain/shard.00001.mds"));
  EXPECT_THAT(opened("plain").set.status().message(), HasSubstr("shard.00001.mds.snappy"));
}

}  // namespace
}  // namespace echoline::record
