// Archives of Python's tarfile are cut into the same records that Python reads, by WebDataset's
// naming.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "record_fixture.h"

namespace echoline::record {
namespace {

// Groups the regular files of an archive by WebDataset's rules: one folder per record, with its key
// and files.
const char* const kReader = R"(
import os, re, sys, tarfile
tar, out = sys.argv[1], sys.argv[2]
records, key, fields = [], None, None
source = tarfile.open(tar, errorlevel=2)
for member in source.getmembers():
    if not (member.isreg() or member.issym() or member.islnk()): continue
    found = re.match(r"^((?:.*/|)[^./][^./]*)[.]([^/]*)$", member.name, re.S)
    if not found: continue
    prefix, suffix = found.group(1), found.group(2).lower()
    if prefix != key or suffix in fields:
        key, fields = prefix, {}
        records.append((key, fields))
    fields[suffix] = member
for number, (key, fields) in enumerate(records):
    folder = os.path.join(out, "%06d" % number)
    os.makedirs(folder)
    open(os.path.join(folder, "KEY"), "wb").write(key.encode("utf-8", "surrogateescape"))
    for place, (suffix, member) in enumerate(fields.items()):
        open(os.path.join(folder, "name%d" % place), "wb").write(suffix.encode("utf-8", "surrogateescape"))
        open(os.path.join(folder, "data%d" % place), "wb").write(source.extractfile(member).read())
)";

// Names of every length around the limits of the formats, Unicode, folders, links, odd sizes.
const char* const kWriter = R"(
import io, sys, tarfile
form = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}[sys.argv[2]]
tar = tarfile.open(sys.argv[1], "w", format=form)
def add(name, data, type=tarfile.REGTYPE, **more):
    info = tarfile.TarInfo(name)
    info.size, info.type = len(data), type
    for key, value in more.items(): setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))
def blob(n): return bytes((n * 31 + i * 7) % 251 for i in range(n))
add("folder", b"", tarfile.DIRTYPE)
for n in [0, 1, 2, 511, 512, 513, 1023, 1024, 1025, 10239, 10240, 10241]:
    add("size%05d.jpg" % n, blob(n))
    add("size%05d.cls" % n, b"%d" % n)
for n in [90, 97, 98, 99, 100, 101, 102, 150, 200]:
    stem = "d" * (n * 3 // 5) + "/" + "f" * (n - n * 3 // 5 - 1)
    add(stem + ".jpg", blob(n))
    add(stem + ".seg.png", blob(n + 1))
if form != tarfile.USTAR_FORMAT:
    for n in [256, 300, 511, 512, 513, 1000]:
        add("/".join(["x" * 60] * (n // 61)) + "/end.jpg", blob(n))
        add("/".join(["x" * 60] * (n // 61)) + "/end.cls", b"1")
add("gr\u00fc\u00df/\u4f60\u597d.jpg", blob(7))
add("gr\u00fc\u00df/\u4f60\u597d.txt", "\u00e9".encode())
add("upper.JPG", b"1"); add("upper.Cls", b"2")
add("README", b"no dot"); add(".hidden", b"hidden"); add("dir/._upper.jpg", b"resource fork")
add("twice.jpg", b"1"); add("twice.jpg", b"2"); add("twice.cls", b"3")
add("link.jpg", b"", tarfile.SYMTYPE, linkname="upper.JPG")
far = "t" * (120 if form != tarfile.USTAR_FORMAT else 20)
add(far, b"no dot, but the file of two links")
add("link2.jpg", b"", tarfile.LNKTYPE, linkname=far)
add("links/link3.jpg", b"", tarfile.SYMTYPE, linkname="../" + far)
add("links/link3.txt", b"a file next to link")
add("a.b.c.d", b"dots"); add("a.x", b"same key")
add("dir.with.dots/name.txt", b"dots before the slash")
tar.close()
)";

std::vector<CutRecord> expected_records(const std::string& folder) {
  std::vector<CutRecord> records;
  const auto slurp = [](const std::filesystem::path& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    std::string content(std::filesystem::file_size(path), '\0');
    EXPECT_EQ(std::fread(content.data(), 1, content.size(), file), content.size());
    std::fclose(file);
    return content;
  };
  for (int number = 0;; ++number) {
    const std::filesystem::path one = fmt::format("{}/{:06}", folder, number);
    if (!std::filesystem::exists(one)) return records;
    CutRecord record;
    record.key = slurp(one / "KEY");
    for (int place = 0; std::filesystem::exists(one / fmt::format("name{}", place)); ++place) {
      record.fields[slurp(one / fmt::format("name{}", place))] =
          slurp(one / fmt::format("data{}", place));
    }
    records.push_back(std::move(record));
  }
}

class TarPython : public RecordTest, public testing::WithParamInterface<const char*> {};

TEST_P(TarPython, EveryRecordHasTheKeyAndBytesThatPythonReads) {
  run_python(kWriter, {path("a.tar"), GetParam()});
  run_python(kReader, {path("a.tar"), path("expected")});
  const std::vector<CutRecord> expected = expected_records(path("expected"));
  const Opened opened = open(read_of({path("a.tar")}));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->format(), "webdataset");
  ASSERT_EQ((*opened.set)->index().record_count(), expected.size());
  ASSERT_GT(expected.size(), 24U);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CutRecord cut = opened.cut(i);
    EXPECT_TRUE(cut.status.ok()) << cut.status.message();
    EXPECT_EQ(cut.key, expected[i].key);
    EXPECT_EQ(cut.fields, expected[i].fields) << cut.key;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, TarPython, testing::Values("ustar", "gnu", "pax"),
                         [](const auto& form) { return std::string(form.param); });

class RealTars : public RecordTest {};

TEST_F(RealTars, FiveHundredPhotosEqualWhatPythonReads) {
  const char* const data = std::getenv("ECHOLINE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "ECHOLINE_TEST_DATA is not set";
  const std::string stem = std::string(data) + "/imagenet/imagenet-00000";
  std::vector<CutRecord> expected;
  for (int shard = 0; shard < 5; ++shard) {
    const std::string out = path(fmt::format("expected{}", shard));
    run_python(kReader, {fmt::format("{}{}.tar", stem, shard), out});
    const std::vector<CutRecord> some = expected_records(out);
    expected.insert(expected.end(), some.begin(), some.end());
  }
  ASSERT_EQ(expected.size(), 500U);
  const Opened opened = open(read_of({stem + "{0..4}.tar"}), path("state"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_TRUE(opened.cut_all() == expected);
  EXPECT_EQ((*opened.set)->index().shards()[1].first_record, 100U);
}

}  // namespace
}  // namespace echoline::record
