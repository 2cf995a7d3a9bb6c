// IDX and token files, and detection of the format by the first bytes.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <cstring>

#include "base/clock.h"
#include "echoline/v1/config.pb.h"
#include "record/arrays/array_header.h"
#include "record/core/record_check.h"
#include "record/open/open_data_set.h"
#include "record_fixture.h"
#include "source/open/open_source.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

std::string idx(char type, const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  }
  return bytes + data;
}

class ArrayTest : public RecordTest {
 protected:
  Status failure(const std::vector<std::string>& names, const std::string& format = "idx") const {
    std::vector<std::string> urls;
    for (const std::string& name : names) urls.push_back(path(name));
    return open(read_of(urls, format)).set.status();
  }
};

TEST_F(ArrayTest, AnIdxImageIsRawAndItsLabelDecimalText) {
  write("images", idx(8, {3, 2, 2}, "aaaabbbbcccc"));
  write("labels", idx(8, {3}, {7, 0, static_cast<char>(255)}));
  const Opened opened = open(read_of({path("images"), path("labels")}));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->format(), "idx");
  ASSERT_EQ((*opened.set)->index().record_count(), 3U);
  EXPECT_EQ(opened.cut(1).fields.at("image"), "bbbb");
  EXPECT_EQ(opened.cut(0).fields.at("label"), "7");
  EXPECT_EQ(opened.cut(2).fields.at("label"), "255");
  EXPECT_EQ(opened.cut(2).key, "images:2");
  const Extent extent = (*opened.set)->index().extent(2);
  EXPECT_EQ(extent.offset, 16U + 8U);
  EXPECT_EQ(extent.bytes, 4U);
  // The labels count as a shard, so that a change of them changes the fingerprint.
  ASSERT_EQ((*opened.set)->index().shards().size(), 2U);
  EXPECT_EQ((*opened.set)->index().shards()[1].record_count, 0U);
}

TEST_F(ArrayTest, WideElementsAreTurnedToLittleEndian) {
  write("images", idx(0x0B, {2, 2}, std::string("\x01\x02\x03\x04\xFF\xFE\x00\x01", 8)));
  write("labels", idx(0x0C, {2}, std::string("\x00\x00\x01\x00\xFF\xFF\xFF\xFF", 8)));
  const Opened opened = open(read_of({path("images"), path("labels")}));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ(opened.cut(0).fields.at("image"), "\x02\x01\x04\x03");
  EXPECT_EQ(opened.cut(0).fields.at("label"), "256");
  EXPECT_EQ(opened.cut(1).fields.at("label"), "-1");
}

TEST_F(ArrayTest, WrongIdxFilesAreErrorsThatNameTheFile) {
  write("short", idx(8, {3, 2}, "aabbc"));
  EXPECT_THAT(failure({"short"}).message(), HasSubstr("short has 17 bytes"));
  write("images", idx(8, {3, 2}, "aabbcc"));
  write("two", idx(8, {2}, "ab"));
  EXPECT_THAT(failure({"images", "two"}).message(), HasSubstr("2 labels for 3 items"));
  gzFile packed = gzopen(path("packed.gz").c_str(), "wb");
  ASSERT_EQ(gzputs(packed, std::string(1000, 'x').c_str()), 1000);
  gzclose(packed);
  EXPECT_EQ(failure({"packed.gz"}).code(), Code::kUnimplemented);
  EXPECT_THAT(failure({"packed.gz"}).message(), HasSubstr("unpack it"));
  EXPECT_THAT(failure({"packed.gz"}, "auto").message(), HasSubstr("unpack it"));
  write("none", idx(8, {0, 2}, ""));
  EXPECT_EQ(failure({"none"}).code(), Code::kNotFound);
  write("huge", idx(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, ""));
  EXPECT_THAT(failure({"huge"}).message(), HasSubstr("impossible"));
}

TEST_F(ArrayTest, TokensAreCutByLengthAndStride) {
  std::string data;
  for (char i = 0; i < 11; ++i) data += std::string{i, '\0'};
  write("a.bin", data);
  v1::Read read = read_of({path("a.bin")});
  read.mutable_tokens()->set_length(4);
  const Opened whole = open(read);
  ASSERT_TRUE(whole.set.ok()) << whole.set.status().message();
  EXPECT_EQ((*whole.set)->index().record_count(), 2U);
  EXPECT_EQ(whole.cut(1).fields.at("tokens"), std::string("\4\0\5\0\6\0\7\0", 8));
  EXPECT_TRUE((*whole.set)->check_field("tokens", "uint16").ok());
  EXPECT_TRUE((*whole.set)->check_field("tokens", "bytes").ok());
  EXPECT_THAT((*whole.set)->check_field("tokens", "int32").message(),
              HasSubstr("a.bin has elements of type uint16; `as` says int32"));
  read.mutable_tokens()->set_stride(3);
  const Opened overlapping = open(read);
  EXPECT_EQ((*overlapping.set)->index().record_count(), 3U);
  EXPECT_EQ(overlapping.cut(2).fields.at("tokens"), std::string("\6\0\7\0\10\0\11\0", 8));
  read.mutable_tokens()->set_length(12);
  EXPECT_EQ(open(read).set.status().code(), Code::kNotFound);
  read.mutable_tokens()->set_dtype("int32");
  EXPECT_THAT(open(read).set.status().message(), HasSubstr("no whole number of 4-byte tokens"));
}

TEST_F(ArrayTest, ABinFileWithALlmcHeaderSaysItsOwnTypeAndCount) {
  const auto with_header = [this](std::uint32_t magic, std::uint32_t count,
                                  const std::string& data) {
    std::vector<std::uint32_t> words(256);
    words[0] = magic;
    words[1] = 1;
    words[2] = count;
    write("a.bin", std::string(reinterpret_cast<const char*>(words.data()), 1024) + data);
    v1::Read read = read_of({path("a.bin")});
    read.mutable_tokens()->set_length(2);
    return open(read);
  };
  const std::string data("\1\0\2\0\3\0\4\0", 8);
  const Opened narrow = with_header(20240520, 4, data);
  ASSERT_TRUE(narrow.set.ok()) << narrow.set.status().message();
  ASSERT_EQ((*narrow.set)->index().record_count(), 2U);
  EXPECT_EQ(narrow.cut(1).fields.at("tokens"), data.substr(4));
  EXPECT_EQ(with_header(20240801, 2, data).cut(0).fields.at("tokens"), data);
  // With a count that does not fit the file, the header counts as tokens.
  EXPECT_EQ((*with_header(20240520, 5, data).set)->index().record_count(), (512U + 4) / 2);
}

TEST_F(ArrayTest, ManyTokenFilesAreOpenedTogether) {
  for (int i = 0; i < 600; ++i)
    write(fmt::format("t/{:04d}.bin", i), std::string(4, static_cast<char>(i)));
  write("t/empty.bin", "");
  v1::Read read = read_of({path("t/*.bin")}, "tokens");
  read.mutable_tokens()->set_length(2);
  read.mutable_throttle()->set_latency(20'000'000);
  read.set_concurrency(32);
  const std::uint64_t start = monotonic_ns();
  const Opened set = open(read);
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_LT(monotonic_ns() - start, 600 * 20'000'000ULL / 4);
  ASSERT_EQ((*set.set)->index().record_count(), 600U);
  EXPECT_EQ(set.cut(300).fields.at("tokens"), std::string(4, static_cast<char>(300 % 256)));
  write("t/0400.bin", "abc");
  EXPECT_THAT(open(read).set.status().message(), HasSubstr("0400.bin has 3 bytes"));
}

TEST_F(ArrayTest, NumpyFilesSayTheirOwnType) {
  run_python(R"(
import numpy, sys
numpy.save(sys.argv[1] + "/le.npy", numpy.arange(10, dtype="<i4"))
numpy.save(sys.argv[1] + "/be.npy", numpy.arange(10, dtype=">u2"))
numpy.save(sys.argv[1] + "/rows.npy", numpy.arange(12, dtype="u1").reshape(3, 4))
numpy.save(sys.argv[1] + "/fortran.npy", numpy.asfortranarray(numpy.arange(12).reshape(3, 4)))
numpy.save(sys.argv[1] + "/complex.npy", numpy.zeros(3, dtype="c8"))
)",
             {path("")});
  const auto tokens = [this](const std::string& name) {
    v1::Read read = read_of({path(name)});
    read.mutable_tokens()->set_length(5);
    return open(read);
  };
  EXPECT_EQ(tokens("le.npy").cut(1).fields.at("tokens").substr(0, 8),
            std::string("\5\0\0\0\6\0\0\0", 8));
  EXPECT_EQ(tokens("be.npy").cut(1).fields.at("tokens").substr(0, 4), std::string("\5\0\6\0", 4));
  EXPECT_EQ(tokens("rows.npy").cut(1).fields.at("tokens"), "\5\6\7\10\11");
  EXPECT_EQ(tokens("fortran.npy").set.status().code(), Code::kUnimplemented);
  EXPECT_EQ(tokens("complex.npy").set.status().code(), Code::kDataLoss);
}

TEST(NumberSet, ARecordIsItsNumberAlsoInASelection) {
  v1::Read read;
  read.mutable_python()->set_file("/code/data.py");
  read.mutable_split()->set_from(0.5);
  const auto source = source::open_source(read);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto opened = open_data_set(read, **source, "", {}, {.python_records = 100});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Index& index = (*opened)->index();
  EXPECT_GT(index.record_count(), 20U);
  EXPECT_LT(index.record_count(), 80U);
  EXPECT_TRUE((*opened)->makes_samples());
  Fields fields;
  for (std::uint64_t record = 0; record < index.record_count(); ++record) {
    const auto bytes = read_record(index, record, **source);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    ASSERT_TRUE((*opened)->cut(record, *bytes, fields).ok());
    const FieldBytes* field = fields.find("index");
    ASSERT_NE(field, nullptr);
    std::int64_t number = -1;
    ASSERT_EQ(field->bytes.size(), sizeof number);
    std::memcpy(&number, field->bytes.data(), sizeof number);
    EXPECT_EQ(index.key(record), "python:" + std::to_string(number));
  }
  EXPECT_FALSE((*source)->list("/code").ok());
}

TEST_F(ArrayTest, AFormatThatNobodyCanTellIsAskedFor) {
  write("what", "hello world");
  const Status status = failure({"what"}, "auto");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("68656c6c6f20776f"));
  EXPECT_THAT(status.message(), HasSubstr("set read.format"));
  write("train.csv", "path,label\na.jpg,cat\n");
  EXPECT_THAT(failure({"train.csv"}, "auto").message(), HasSubstr("set read.format to files"));
}

TEST_F(ArrayTest, NothingAtAnAddressIsAnErrorThatNamesIt) {
  EXPECT_THAT(failure({"missing-*.tar"}, "auto").message(), HasSubstr("missing-*.tar"));
  EXPECT_THAT(failure({"missing.tar"}, "auto").message(), HasSubstr("missing.tar"));
}

TEST(FieldsTest, FindTakesTheFirstNameThatIsThere) {
  Fields fields;
  fields.fields = {{"png", {}}, {"jpg", {}}};
  EXPECT_EQ(fields.find("jpg;png")->name, "jpg");
  EXPECT_EQ(fields.find("jpeg;png")->name, "png");
  EXPECT_EQ(fields.find("cls"), nullptr);
  EXPECT_EQ(fields.find(""), nullptr);
}

}  // namespace
}  // namespace echoline::record
