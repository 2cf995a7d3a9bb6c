// Index files of other programs give the same records as a scan of the shards, or an error that
// names them.
#include "record/index/foreign_index.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "record/open/open_data_set.h"
#include "record/tar/wds_index.h"
#include "record/tfrecord/tfrecord.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Writes the index of each tar as DALI's wds2idx does: all regular files, by their names up to the
// first dot.
const char* const kWdsIndexer = R"(
import sys, tarfile
for tar in sys.argv[1:]:
    lines, last = [], None
    for member in tarfile.open(tar):
        if not member.isreg(): continue
        dot = member.name.find(".", member.name.rfind("/") + 1)
        stem, extension = member.name[:dot], member.name[dot + 1:]
        if not stem or stem.endswith("/"): continue
        word = "%s %d %d %s" % (extension, member.offset_data, member.size, member.name)
        if stem == last: lines[-1] += " " + word
        else: lines.append(word)
        last = stem
    open(tar[:tar.find(".", tar.rfind("/") + 2)] + ".idx", "w").write("v1.2 %d\n" % len(lines) + "".join(line + "\n" for line in lines))
)";

// Headers of several kinds: pax for the times, long names, folders and files of no record between.
const char* const kTarWriter = R"(
import io, sys, tarfile
tar = tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT)
def add(name, data, type=tarfile.REGTYPE, mtime=0):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.mtime = len(data), type, mtime
    tar.addfile(info, io.BytesIO(data))
add("README", b"first")
for i in range(40):
    if i % 7 == 0: add("folder%d" % i, b"", tarfile.DIRTYPE)
    name = ("long" * 40 if i % 5 == 0 else "n") + "/%04d" % i
    add(name + ".JPG", bytes([i]) * (i * 97), mtime=i + 0.5 * (i % 2))
    if i % 3: add(name + ".seg.png", b"%d" % i)
    if i % 11 == 0: add("notes", b"between"); add(".hidden", b"x"); add("__info.x__", b"y")
    add(name + ".cls", b"%d" % (i % 10))
add("LICENSE", b"last")
tar.close()
)";

class ForeignIndexes : public RecordTest {
 protected:
  Opened opened(const std::string& name, const std::string& state = "") const {
    return open(read_of({path(name)}), state.empty() ? "" : path(state));
  }
  void index_tars(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(path(name));
    run_python(kWdsIndexer, paths);
  }
  void write_tfrecord(const std::string& name) const {
    run_python(
        "import sys\nsys.path.insert(0, sys.argv[1])\nfrom shard_writers import *\n"
        "frames = [frame(example({'x': bytes([i]) * i * 9, 'i': i})) for i in range(50)]\n"
        "open(sys.argv[2], 'wb').write(b''.join(frames))\n"
        "at = 0\n"
        "with open(sys.argv[2] + '.idx', 'w') as index:\n"
        "    for one in frames: index.write('%d %d\\n' % (at, len(one))); at += len(one)\n",
        {ECHOLINE_SOURCE_DIR "/tests/record", path(name)});
  }
  // An index with one change of a digit, word or line.
  static std::string change(std::string text, std::mt19937& random) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>('0' + random() % 10);
        break;
      case 1: {  // without one line, but with the right count
        const std::size_t begin = text.find('\n', at), end = text.find('\n', begin + 1);
        if (end != std::string::npos) text.erase(begin, end - begin);
        const std::size_t count = text.find("v1.2 40");
        if (count == 0) text.replace(0, 7, "v1.2 39");
        break;
      }
      case 2:
        text.resize(at);
        break;
      case 3:
        text.erase(at, 1 + random() % 6);
        break;
      default: {  // two words change places
        const std::size_t one = text.find(' ', at), two = text.find(' ', one + 1);
        if (two == std::string::npos) break;
        const std::size_t three = std::min(text.find_first_of(" \n", two + 1), text.size());
        const std::string first = text.substr(one + 1, two - one - 1);
        const std::string second = text.substr(two + 1, three - two - 1);
        text.replace(one + 1, three - one - 1, fmt::format("{} {}", second, first));
      }
    }
    return text;
  }
  // Whether all files are those of one record, with its name if it has one.
  static bool is_part_of_one(const CutRecord& cut, const std::vector<CutRecord>& expected) {
    return std::any_of(expected.begin(), expected.end(), [&cut](const CutRecord& one) {
      const bool numbered = cut.key.find(':') != std::string::npos;
      return (numbered || one.key == cut.key) &&
             std::all_of(cut.fields.begin(), cut.fields.end(), [&one](const auto& field) {
               const auto found = one.fields.find(field.first);
               return found != one.fields.end() && found->second == field.second;
             });
    });
  }
  // With a wrong index, files of the records that it names, or errors that name it; returns how
  // many indexes were used.
  int expect_same_or_named(const std::string& shard, const std::string& index,
                           const std::vector<CutRecord>& expected) const {
    const std::string right = read(index);
    std::mt19937 random(11);
    int used = 0;
    for (int i = 0; i < 150; ++i) {
      write(index, change(right, random));
      const Opened set = opened(shard);
      EXPECT_TRUE(set.set.ok()) << set.set.status().message();
      if (!set.set.ok()) continue;
      const std::uint64_t count = (*set.set)->index().record_count();
      used += (*set.set)->index().shard(0).foreign_index.empty() ? 0 : 1;
      std::uint64_t good = 0, same = 0;
      for (std::uint64_t record = 0; record < count; ++record) {
        const CutRecord cut = set.cut(record);
        if (cut.status.ok()) {
          EXPECT_TRUE(is_part_of_one(cut, expected)) << cut.key;
          same += record < expected.size() && cut == expected[record] ? 1 : 0;
          ++good;
        } else {
          EXPECT_EQ(cut.status.code(), Code::kFailedPrecondition);
          EXPECT_THAT(cut.status.message(), HasSubstr(index + " does not fit the shard"));
        }
      }
      // Without an error, everything is as without the index.
      EXPECT_TRUE(good < count || same == expected.size()) << read(index);
    }
    return used;
  }
};

TEST_F(ForeignIndexes, AreFoundByTheNamesThatTheirProgramsGiveThem) {
  EXPECT_THAT(foreign_index_addresses("s3://b/d.x/train-0.a.tar"),
              ElementsAre("s3://b/d.x/train-0.idx", "s3://b/d.x/train-0.a.tar.idx",
                          "s3://b/d.x/train-0.a.idx"));
  EXPECT_THAT(foreign_index_addresses("/d/a.tar"), ElementsAre("/d/a.idx", "/d/a.tar.idx"));
  EXPECT_THAT(foreign_index_addresses("/d/a"), ElementsAre("/d/a.idx"));
  EXPECT_THAT(foreign_index_addresses("/d/.a"), ElementsAre("/d/.a.idx"));
}

TEST_F(ForeignIndexes, OfTarsWithAChangeAreNotUsedOrNamed) {
  run_python(kTarWriter, {path("a.tar")});
  const std::vector<CutRecord> expected = opened("a.tar").cut_all();
  ASSERT_EQ(expected.size(), 40U);
  index_tars({"a.tar"});
  EXPECT_GT(expect_same_or_named("a.tar", "a.idx", expected), 20);
}

TEST_F(ForeignIndexes, OfTfRecordFilesWithAChangeAreNotUsedOrNamed) {
  write_tfrecord("a");
  const std::string index = read("a.idx");
  std::filesystem::remove(path("a.idx"));
  const std::vector<CutRecord> expected = opened("a").cut_all();
  write("a.idx", index);
  ASSERT_EQ(expected.size(), 50U);
  EXPECT_FALSE((*opened("a").set)->index().shard(0).foreign_index.empty());
  EXPECT_TRUE(opened("a").cut_all() == expected);
  // All numbers follow from each other, so a wrong one does not fit.
  (void)expect_same_or_named("a", "a.idx", expected);
  // One that fits, of another file of the same size.
  write("a.idx", fmt::format("0 {}\n", std::filesystem::file_size(path("a"))));
  const CutRecord cut = opened("a").cut(0);
  EXPECT_EQ(cut.status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(cut.status.message(), HasSubstr("a.idx does not fit the shard"));
}

TEST_F(ForeignIndexes, InTheFolderOfTheirShardsAreNoShards) {
  std::filesystem::create_directory(path("set"));
  for (const std::string name : {"a.x", "b.x", "c"}) {
    run_python(kTarWriter, {path("set/" + name + ".tar")});
  }
  const Opened scanned = opened("set/", "scanned");
  ASSERT_TRUE(scanned.set.ok()) << scanned.set.status().message();
  const std::uint64_t scan_bytes = scanned.source->counters().bytes;
  index_tars({"set/a.x.tar", "set/b.x.tar"});
  std::filesystem::rename(path("set/b.idx"), path("set/b.x.tar.idx"));
  const Opened set = opened("set/", "state");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ((*set.set)->format(), "webdataset");
  EXPECT_LT(set.source->counters().bytes, scan_bytes);
  const Index& index = (*set.set)->index();
  EXPECT_THAT(index.shard(0).foreign_index, testing::EndsWith("set/a.idx"));
  EXPECT_THAT(index.shard(1).foreign_index, testing::EndsWith("set/b.x.tar.idx"));
  EXPECT_EQ(index.shard(2).foreign_index, "");
  EXPECT_TRUE(set.cut_all() == scanned.cut_all());
  EXPECT_EQ(set.publish().status().code(), Code::kFailedPrecondition);
  // Only the scanned shard is stored: without the files, the others are scanned.
  std::filesystem::remove(path("set/a.idx"));
  const Opened again = opened("set/", "state");
  EXPECT_EQ((*again.set)->index().shard(0).foreign_index, "");
  EXPECT_NE((*again.set)->index().shard(1).foreign_index, "");
  EXPECT_TRUE(again.cut_all() == scanned.cut_all());
  // An index for other hosts is made from the data.
  const v1::Read read = read_of({path("set/")});
  auto fresh = open_data_set(read, *again.source, "", {}, {.listings = Listings::kRefresh});
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ((*fresh)->index().shard(1).foreign_index, "");
}

TEST_F(ForeignIndexes, ThatLackALinkOrALastRecordAreNotBelieved) {
  std::string content = tar_member("a.jpg", "1") + tar_member("b.jpg", "2");
  std::string link = tar_member("c.jpg", "", '1');
  link.replace(157, 5, "a.jpg");
  link.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : link) sum += static_cast<unsigned char>(c);
  link.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  write("a.tar", content + link + tar_member("d.jpg", "4") + tar_end());
  index_tars({"a.tar"});
  const Opened linked = opened("a.tar");
  ASSERT_TRUE(linked.set.ok()) << linked.set.status().message();
  EXPECT_TRUE(linked.cut(1).status.ok());
  EXPECT_THAT(linked.cut(2).status.message(), HasSubstr("a.idx does not fit the shard"));
  write("a.tar", content + tar_end());
  index_tars({"a.tar"});
  write("a.tar", content + tar_member("new.jpg", "3") + tar_end());
  const Opened longer = opened("a.tar");
  EXPECT_EQ((*longer.set)->index().shard(0).foreign_index, "");
  EXPECT_EQ((*longer.set)->index().record_count(), 3U);
}

TEST_F(ForeignIndexes, ThatCannotTellTheRecordsSayWhy) {
  const auto message = [](std::string_view text) {
    return parse_wds_index(text, 10240).status().message();
  };
  EXPECT_EQ(message("v1.2 1\njpg 512 5 a.jpg cls 1536 1 a.cls\n"), "");
  EXPECT_EQ(message("v1.2 1\njpg 512 5 a.jpg cls 1536 1 a.cls"), "");
  EXPECT_THAT(message("v1.1 1\njpg 512 5\n"), HasSubstr("does not begin with 'v1.2 COUNT'"));
  EXPECT_THAT(message("v1.2 2\njpg 512 5 a.jpg\n"), HasSubstr("1 lines where it says 2"));
  EXPECT_THAT(message("v1.2 1\njpg 512 5 a b.jpg\n"), HasSubstr("EXTENSION OFFSET SIZE NAME"));
  EXPECT_THAT(message("v1.2 1\njpg 512 5 \\303.jpg\n"), HasSubstr("special characters"));
  EXPECT_THAT(message("v1.2 1\njpg 512 5 a.jpg JPG 1536 1 a.JPG\n"), HasSubstr("'jpg' twice"));
  EXPECT_THAT(message("v1.2 1\njpg 512 5 a.png\n"), HasSubstr("not the extension 'jpg'"));
  for (const char* const offset : {"0", "513", "10752", "10241", "18446744073709551615"}) {
    EXPECT_THAT(message(fmt::format("v1.2 1\njpg {} 5 a.jpg\n", offset)),
                HasSubstr("not in the shard of 10240 bytes"));
  }
}

}  // namespace
}  // namespace echoline::record
