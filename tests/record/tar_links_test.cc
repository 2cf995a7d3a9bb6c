// Links and sparse files in archives of GNU tar: a link has the bytes of the file that an
// extraction has there.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "record/index/stored_index.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// `script` fills the folder "in"; then tar packs its entries in the order of sys.argv[4:].
const char* const kPacker = R"(
import os, subprocess, sys
root, tar = sys.argv[1], sys.argv[2]
os.makedirs(root + "/in"); os.chdir(root + "/in")
def put(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
def sym(path, target):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    os.symlink(target, path)
exec(sys.argv[3])
subprocess.run(["tar", "-cf", tar, *sys.argv[4:]], check=True)
os.makedirs(root + "/out", exist_ok=True)
subprocess.run(["tar", "-xf", tar, "-C", root + "/out"], check=True)
)";

std::string tar_link(const std::string& name, const std::string& target, char type) {
  std::string block = tar_member(name, "", type);
  block.replace(157, target.size(), target);
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

class TarLinks : public RecordTest {
 protected:
  // Packs with GNU tar into "a.tar" and extracts to "out".
  void pack(const std::string& script, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {path(""), path("a.tar"), script});
    run_python(kPacker, arguments);
  }
  Opened open_tar(const std::string& content) const {
    write("a.tar", content);
    return open(read_of({path("a.tar")}, "webdataset"));
  }
  // Compares each field with the extracted file.
  void expect_extracted(const Opened& opened) const {
    ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
    for (const CutRecord& record : opened.cut_all()) {
      ASSERT_TRUE(record.status.ok()) << record.key << ": " << record.status.message();
      for (const auto& [name, bytes] : record.fields) {
        const std::string file = fmt::format("out/{}.{}", record.key, name);
        EXPECT_EQ(bytes, read(file)) << file;
      }
    }
  }
};

class TarLinkFormats : public TarLinks, public testing::WithParamInterface<const char*> {};

TEST_P(TarLinkFormats, ALinkIsTheFileThatAnExtractionHasThere) {
  pack(R"(
put("blobs/one", "1" * 700); put("blobs/two.bin", "2" * 90)
put("a/0.jpg", "image 0"); put("a/0.cls", "7")
os.link("blobs/one", "a/1.jpg"); sym("a/1.cls", "0.cls")
sym("a/2.jpg", "../z/late.jpg"); put("a/2.cls", "8")
sym("a/3.jpg", "./.././a//2.jpg"); os.link("a/0.cls", "a/3.cls")
sym("a/4.jpg", "4.png"); put("a/4.png", "in the same record")
put("n/" + "long" * 24 + "/" + "x" * 95, "far"); sym("n/" + "long" * 24 + "/5.jpg", "x" * 95)
put("z/late.jpg", "late"); os.link("a/2.jpg", "z/late2.jpg", follow_symlinks=False)
)",
       {"--format", GetParam(), "blobs", "a/0.jpg", "a/0.cls", "a/1.jpg", "a/1.cls", "a/2.jpg",
        "a/2.cls", "a/3.jpg", "a/3.cls", "a/4.jpg", "a/4.png", "z", "n"});
  const Opened opened = open(read_of({path("a.tar")}), path("state"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->index().record_count(), 9U);  // blobs/two.bin and two of z, too
  expect_extracted(opened);
  const auto records = opened.cut_all();
  EXPECT_EQ(records[2].fields.at("jpg"), std::string(700, '1'));
  // As does what an earlier start or another host stored.
  const Opened again = open(read_of({path("a.tar")}), path("state"));
  EXPECT_TRUE(again.cut_all() == records);
  ASSERT_TRUE(opened.publish().ok());
  const Opened published = open(read_of({path("a.tar")}));
  EXPECT_TRUE(published.cut_all() == records);
  write("a.tar.gz", gzip(read("a.tar")));
  EXPECT_TRUE(open(read_of({path("a.tar.gz")})).cut_all() == records);
}

INSTANTIATE_TEST_SUITE_P(Formats, TarLinkFormats, testing::Values("ustar", "gnu", "pax"),
                         [](const auto& form) { return std::string(form.param); });

TEST_F(TarLinks, ALinkThatLeadsToNoFileMakesItsRecordBad) {
  const Opened opened =
      open_tar(tar_member("0.jpg", "0") + tar_link("1.jpg", "nothing.jpg", '2') +
               tar_link("2.jpg", "3.jpg", '1') + tar_member("3.jpg", "3") +
               tar_link("4.jpg", "../x.jpg", '2') + tar_link("5.jpg", "/etc/hostname", '2') +
               tar_link("6.jpg", "7.jpg", '2') + tar_link("7.jpg", "6.jpg", '2') +
               tar_link("8.jpg", "8.jpg", '2') + tar_member("9.d/", "", '5') +
               tar_link("9.jpg", "9.d", '2') + tar_member("9.cls", "9") + tar_end());
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  std::vector<std::string> messages;
  for (const CutRecord& record : opened.cut_all()) {
    EXPECT_EQ(record.status.ok(), record.key == "0" || record.key == "3") << record.key;
    if (record.status.ok()) continue;
    EXPECT_EQ(record.status.code(), Code::kDataLoss);
    messages.push_back(record.status.message());
  }
  EXPECT_THAT(messages,
              ElementsAre(HasSubstr("'1.jpg' is a symbolic link to 'nothing.jpg', which "
                                    "leads to no file in the archive"),
                          HasSubstr("'2.jpg' is a hard link to '3.jpg', which is no file "
                                    "before it in the archive: write the archive again"),
                          HasSubstr("outside of the archive"),
                          HasSubstr("outside of the archive"),  //
                          HasSubstr("a circle of links"), HasSubstr("a circle of links"),
                          HasSubstr("a circle of links"), HasSubstr("'9.d', which leads")));
}

TEST_F(TarLinks, OfTwoFilesWithOneNameALinkHasTheOneThatIsThere) {
  // A hard link is made when it is extracted, a symbolic link is followed at the end.
  const Opened opened = open_tar(tar_member("x/v", "old") + tar_link("h.txt", "x/v", '1') +
                                 tar_link("s.txt", "x/v", '2') + tar_member("x/v", "new") +
                                 tar_link("t.txt", "x/v", '1') + tar_end());
  const auto records = opened.cut_all();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].fields.at("txt"), "old");
  EXPECT_EQ(records[1].fields.at("txt"), "new");
  EXPECT_EQ(records[2].fields.at("txt"), "new");
}

TEST_F(TarLinks, AFileIsReadOnceForAllLinksOfARecord) {
  std::string content = tar_member("0.jpg", std::string(5000, 'x'));
  for (int i = 0; i < 50; ++i) content += tar_link(fmt::format("1.x{}", i), "0.jpg", '1');
  const Opened opened = open_tar(content + tar_end());
  const Index& index = (*opened.set)->index();
  EXPECT_EQ(index.extent(1).bytes, 50 * 512U + 512 + 5120);
  EXPECT_GE(index.extent(1).offset, content.size());
  EXPECT_EQ(index.begins_at(1), 512 + 5120U);
  EXPECT_EQ(index.record_bytes_total(), content.size() + 512 + 5120);
  EXPECT_EQ(opened.cut(1).fields.at("x49"), std::string(5000, 'x'));
}

TEST_F(TarLinks, RecordsOfOneReadMayBeGatheredAndNot) {
  const Opened opened =
      open_tar(tar_member("0.jpg", "zero") + tar_member("1.jpg", "one") +
               tar_link("2.jpg", "0.jpg", '1') + tar_link("3.jpg", "1.jpg", '2') + tar_end());
  const Index& index = (*opened.set)->index();
  source::ReadRequest request{7, index.shard(0).object, {}};
  std::vector<std::vector<std::byte>> buffers(3);
  for (const std::uint64_t record : {1, 2, 3}) {
    const Extent extent = index.extent(record);
    buffers[record - 1].resize(extent.bytes);
    request.segments.push_back({extent.offset, buffers[record - 1]});
  }
  opened.source->submit(std::move(request));
  std::vector<source::ReadResult> done;
  opened.source->poll(UINT64_MAX, done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].tag, 7U);
  EXPECT_TRUE(done[0].status.ok());
  for (const std::uint64_t record : {1, 2, 3}) {
    Fields fields;
    ASSERT_TRUE((*opened.set)->cut(record, buffers[record - 1], fields).ok());
    const auto bytes = fields.fields.at(0).bytes;
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text, record == 2 ? "zero" : "one");
  }
}

TEST_F(TarLinks, OnlyRecordsInOnePieceHaveAChecksum) {
  write("a.tar", tar_member("0.jpg", "0") + tar_link("1.jpg", "0.jpg", '2') + tar_end());
  const Opened opened = open(read_of({path("a.tar")}), path("state"), {}, Checksums::kAll);
  const Index& index = (*opened.set)->index();
  EXPECT_NE(index.checksum(0), 0U);
  EXPECT_EQ(index.checksum(1), 0U);
  EXPECT_EQ(opened.cut(1).fields.at("jpg"), "0");
}

TEST_F(TarLinks, PartsOutsideTheirShardAreNoIndex) {
  StoredIndex index;
  index.shards.push_back({{"a.tar", 2048, ""}, 0, 2, 0});
  index.records.add(0, 512, "a");
  index.records.add(512, 512, "b");
  index.records.parts = {{1, 0, 512}};
  const auto decoded = [&] {
    const std::string bytes = encode_index(index);
    return decode_index(std::as_bytes(std::span(bytes)));
  };
  ASSERT_TRUE(decoded().ok()) << decoded().status().message();
  EXPECT_EQ(decoded()->records.parts, index.records.parts);
  for (const std::vector<RecordPart>& parts : std::vector<std::vector<RecordPart>>{
           {{2, 0, 512}}, {{1, 2048, 1}}, {{0, 0, 600}, {0, 599, 1}}, {{1, 0, 1}, {0, 0, 1}}}) {
    index.records.parts = parts;
    EXPECT_EQ(decoded().status().code(), Code::kDataLoss);
  }
}

TEST_F(TarLinks, ASparseFileIsRefusedByItsName) {
  const std::vector<std::vector<std::string>> kinds = {{"--format=gnu"},
                                                       {"--format=pax", "--sparse-version=0.0"},
                                                       {"--format=pax", "--sparse-version=0.1"},
                                                       {"--format=pax", "--sparse-version=1.0"}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::filesystem::remove_all(path("in"));
    std::vector<std::string> arguments = {"--sparse", "a.jpg", "holes.npy"};
    arguments.insert(arguments.begin(), kinds[i].begin(), kinds[i].end());
    pack(R"(
put("a.jpg", "1")
with open("holes.npy", "wb") as file: file.seek(1 << 20); file.write(b"end")
)",
         arguments);
    const Status status = open(read_of({path("a.tar")}, "webdataset")).set.status();
    EXPECT_EQ(status.code(), Code::kUnimplemented) << i;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("a.tar: offset "),
                                        HasSubstr("'holes.npy' is stored as a sparse file"),
                                        HasSubstr("without --sparse")));
  }
}

}  // namespace
}  // namespace echoline::record
