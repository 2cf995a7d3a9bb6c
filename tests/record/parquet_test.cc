// Parquet files written by pyarrow have the values that pyarrow reads; damaged files are errors
// that name the place.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/buffer.h"
#include "base/hex.h"
#include "record/parquet/values.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

const std::string kPython = ECHOLINE_SOURCE_DIR "/build/venv/bin/python";

class Parquet : public RecordTest {
 protected:
  // Runs Python with pyarrow; skips the test if there is none.
  void SetUp() override {
    if (std::system((kPython + " -c 'import pyarrow' 2>/dev/null").c_str()) != 0) {
      GTEST_SKIP() << "needs pyarrow: tests/run.sh installs tests/requirements.txt";
    }
  }
  void python(const std::string& script) const {
    const std::string lead =
        "import pyarrow as pa, pyarrow.parquet as pq\nfolder = '" + path("") + "'\n";
    write("script.py", lead + script);
    ASSERT_EQ(std::system((kPython + " " + path("script.py")).c_str()), 0);
  }
  Opened opened(const std::string& name, const std::string& state = "",
                std::vector<std::string> columns = {}, std::uint64_t unpack = 0) const {
    v1::Read read = read_of({path(name)});
    for (std::string& column : columns) read.mutable_parquet()->add_columns(std::move(column));
    if (unpack > 0) read.set_unpack(unpack);
    return open(read, state);
  }
  // What the record has, as the files of parquet_files.py say it.
  static void expect_row(const CutRecord& record, const Json& row) {
    ASSERT_TRUE(record.status.ok()) << record.status.message();
    for (const auto& [key, hex] : row["fields"].items()) {
      ASSERT_TRUE(record.fields.contains(key)) << key;
      EXPECT_EQ(to_hex(std::as_bytes(std::span(record.fields.at(key)))), hex) << key;
    }
    for (const auto& [key, number] : row["numbers"].items()) {
      ASSERT_TRUE(record.fields.contains(key)) << key;
      const std::string& text = record.fields.at(key);
      if (number.is_string()) {
        EXPECT_EQ(text, number.get<std::string>()) << key;
      } else {
        EXPECT_EQ(std::strtod(text.c_str(), nullptr), number.get<double>()) << key;
      }
    }
    EXPECT_EQ(record.fields.size(), row["fields"].size() + row["numbers"].size());
  }
};

TEST_F(Parquet, EveryTypeEncodingAndCompressionHasTheValuesOfPyarrow) {
  const std::string writer = ECHOLINE_SOURCE_DIR "/tests/record/parquet_files.py ";
  ASSERT_EQ(std::system((kPython + " " + writer + path("")).c_str()), 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path(""))) {
    if (entry.path().extension() != ".parquet") continue;
    const std::string name = entry.path().stem();
    const Opened set = opened(name + ".parquet");
    ASSERT_TRUE(set.set.ok()) << set.set.status().message();
    EXPECT_EQ((*set.set)->format(), "parquet");
    const Json rows = Json::parse(read(name + ".json"));
    const auto records = set.cut_all();
    ASSERT_EQ(records.size(), rows.size()) << name;
    for (std::size_t i = 0; i < rows.size() && !HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("{}, row {}", name, i));
      EXPECT_EQ(records[i].key, fmt::format("{}.parquet:{}", name, i));
      expect_row(records[i], rows[i]);
    }
    ++files;
  }
  EXPECT_EQ(files, 23U);
}

TEST_F(Parquet, RowGroupsAreDecodedOnceAndOnlyWithTheChosenColumns) {
  python(
      "table = pa.table({'image': pa.array([{'bytes': bytes([i % 251]) * 30_000, 'path': "
      "f'{i}.jpg'}\n"
      "    for i in range(4000)]), 'label': pa.array(range(4000), pa.int64()),\n"
      "    'other': [b'x' * 10_000] * 4000})\n"
      "pq.write_table(table, folder + '/a.parquet', row_group_size=100, compression='none',\n"
      "               use_dictionary=False)\n");
  const std::uint64_t file_bytes = std::filesystem::file_size(path("a.parquet"));
  const Opened first = opened("a.parquet", path("state"), {"image", "label"});
  ASSERT_TRUE(first.set.ok()) << first.set.status().message();
  EXPECT_TRUE((*first.set)->random_access()) << "all of it fits into read.unpack";
  // 120 of 160 MB: for the index, and for the records.
  EXPECT_LT(first.source->counters().bytes, file_bytes * 8 / 10);
  const Opened second = opened("a.parquet", path("state"), {"image", "label"});
  EXPECT_LE(second.source->counters().bytes, 4096U + 65536U) << "the index is stored";
  for (const std::uint64_t row : {3999, 0, 1500, 3998, 1, 1501}) {
    const CutRecord record = second.cut(row);
    EXPECT_EQ(record.fields.at("image"), std::string(30'000, static_cast<char>(row % 251)));
    EXPECT_EQ(record.fields.at("image.path"), fmt::format("{}.jpg", row));
    EXPECT_EQ(record.fields.at("label"), std::to_string(row));
    EXPECT_FALSE(record.fields.contains("other"));
  }
  EXPECT_LT(second.source->counters().bytes, file_bytes * 8 / 10);
  // Other columns have an index of their own.
  EXPECT_EQ(opened("a.parquet", path("state"), {"other"}).cut(7).fields.size(), 1U);
  EXPECT_FALSE((*opened("a.parquet", path("state"), {"image"}, 100 << 20).set)->random_access());
  // One request for rows of all row groups, with room for a few of them at a time.
  const Opened little = opened("a.parquet", path("state"), {"image"}, 20 << 20);
  const Index& index = (*little.set)->index();
  source::ReadRequest request{0, index.shard(0).object, {}};
  std::vector<std::vector<std::byte>> rows(40);
  for (std::size_t group = 0; group < rows.size(); ++group) {
    const Extent extent = index.extent(group * 100 + 5);
    rows[group].resize(extent.bytes);
    request.segments.push_back({extent.offset, rows[group]});
  }
  little.source->submit(std::move(request));
  std::vector<source::ReadResult> done;
  while (done.empty()) little.source->poll(UINT64_MAX, done);
  ASSERT_TRUE(done[0].status.ok()) << done[0].status.message();
  Fields fields;
  ASSERT_TRUE((*little.set)->cut(3905, rows[39], fields).ok());
  EXPECT_EQ(fields.find("image")->bytes[7], static_cast<std::byte>(3905 % 251));
  EXPECT_THAT(opened("a.parquet", "", {"lable"}).set.status().message(),
              HasSubstr("no column 'lable'; there are image, label, other"));
}

TEST_F(Parquet, APublishedIndexSavesThePass) {
  python(
      "for n in range(3):\n"
      "    table = pa.table({'x': [f'{n}/{i}' * 1000 for i in range(500)]})\n"
      "    pq.write_table(table, f'{folder}/{n}.parquet', row_group_size=90, "
      "use_dictionary=False)\n"
      "open(folder + '/README.md', 'w').write('A data set')\n");
  const v1::Read read = read_of({path("")}, "parquet");
  const Opened first = open(read);
  ASSERT_TRUE(first.set.ok()) << first.set.status().message();
  EXPECT_EQ((*first.set)->index().shard_count(), 3U);
  ASSERT_TRUE(first.publish().ok());
  const Opened second = open(read);
  EXPECT_EQ(second.cut_all(), first.cut_all());
  EXPECT_NE((*second.set)->index().checksum(1499), 0U);
  v1::Read some = read;
  some.mutable_parquet()->add_columns("x");
  EXPECT_EQ(open(some).publish().status().code(), Code::kFailedPrecondition);
}

TEST_F(Parquet, FilesOfOneStreamHaveTheSameFields) {
  python(
      "pq.write_table(pa.table({'x': [1], 'y': ['a']}), folder + '/a.parquet')\n"
      "pq.write_table(pa.table({'y': ['b'], 'x': [2]}), folder + '/b.parquet')\n"
      "pq.write_table(pa.table({'x': pa.array([2], pa.int64()), 'y': pa.array(['b']), 'z': [1]}),\n"
      "               folder + '/c.parquet')\n");
  EXPECT_THAT(open(read_of({path("a.parquet"), path("b.parquet")})).set.status().message(),
              HasSubstr("b.parquet: its columns"));
  v1::Read read = read_of({path("a.parquet"), path("c.parquet")});
  EXPECT_THAT(open(read).set.status().message(), HasSubstr("c.parquet: its columns"));
  for (const char* name : {"x", "y"}) read.mutable_parquet()->add_columns(name);
  EXPECT_EQ(open(read).cut(1).fields.at("y"), "b");
}

TEST(ParquetValues, LongValuesOfADictionaryAreNotCopied) {
  constexpr std::uint32_t kWidth = 1 << 20;
  Column column;
  column.type = PhysicalType::kFixedLenByteArray;
  column.type_bytes = kWidth;
  Buffer page(kWidth);
  std::fill_n(page.data(), kWidth, std::byte{7});
  Dictionary dictionary;
  ASSERT_TRUE(dictionary.read(column, std::move(page), 1));
  // The width of a place in bits, and a run of 1024 zeros: 1 GiB of values.
  const std::byte places[] = {std::byte{1}, std::byte{0x80}, std::byte{0x10}, std::byte{0}};
  const auto decoder =
      make_value_decoder(column, Encoding::kRleDictionary, places, 1024, &dictionary);
  ASSERT_TRUE(decoder.ok());
  ValueBatch batch;
  ASSERT_TRUE((*decoder)->decode(1024, batch));
  EXPECT_TRUE(batch.fixed.empty());
  EXPECT_EQ(batch[1023].size(), kWidth);
  EXPECT_EQ(batch[1023].data(), batch[0].data());
}

// Each byte of a small file, changed: an error, or rows that could be those of another file. With
// checksums of pages, no value is wrong without an error.
TEST_F(Parquet, DamageIsFound) {
  python(
      "table = pa.table({'i': pa.array(range(50), pa.int32()), 't': [f'text {n % 5}' for n in "
      "range(50)]})\n"
      "pq.write_table(table, folder + '/good.parquet', row_group_size=20, "
      "write_page_checksum=True,\n"
      "               compression='snappy', store_schema=False, write_statistics=False)\n");
  const std::string good = read("good.parquet");
  std::size_t errors = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    write("bad.parquet", bad);
    const Opened set = open(read_of({path("bad.parquet")}, "parquet"));
    if (!set.set.ok()) {
      EXPECT_THAT(set.set.status().message(), HasSubstr("bad.parquet"));
      ++errors;
    }
  }
  EXPECT_GT(errors, good.size() / 2);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, good.size() / 2, good.size() - 1}) {
    write("bad.parquet", good.substr(0, size));
    const Opened set = open(read_of({path("bad.parquet")}, "parquet"));
    ASSERT_FALSE(set.set.ok()) << size;
    EXPECT_THAT(set.set.status().message(), HasSubstr("bad.parquet"));
  }
  // A byte of the first page.
  std::string bad = good;
  bad[60] = static_cast<char>(~bad[60]);
  write("bad.parquet", bad);
  EXPECT_THAT(opened("bad.parquet").set.status().message(),
              HasSubstr("bad.parquet: row group 0: column 'i', page at byte"));
}

}  // namespace
}  // namespace echoline::record
