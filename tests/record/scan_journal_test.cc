// A scan that goes on from the parts of another one finds the same as a scan in one go.
#include "record/index/scan_journal.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/crc.h"
#include "record/core/text.h"
#include "record/index/checksum_scan.h"
#include "record/index/stored_index.h"
#include "record/lines/line_scan.h"
#include "record/tar/webdataset.h"
#include "record/tfrecord/tfrecord.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

// Records of several files, long names, pax headers, links before and behind their targets, names
// that WebDataset reserves, folders.
const char* const kWriteTar = R"(
import io, sys, tarfile
with tarfile.open(sys.argv[1], "w", format=int(sys.argv[2])) as tar:
    def put(name, data=b"", kind=tarfile.REGTYPE, target=""):
        member = tarfile.TarInfo(name)
        member.size, member.type, member.linkname = len(data), kind, target
        tar.addfile(member, io.BytesIO(data))
    put("__meta__", b"m" * 700)
    for i in range(40):
        if i % 7 == 0: put(f"d{i}", kind=tarfile.DIRTYPE)
        if i % 5 == 0: put(f"__m{i}__", b"m" * 30)
        name = f"d{i - i % 7}/" + (f"\u00e4{i}" if i % 3 == 0 else "n" * (5 * i) + str(i))
        put(name + ".jpg", b"j" * (i * 97 % 2000))
        put(name + ".cls", b"%d" % i)
        if i % 4 == 1: put(name + ".png", kind=tarfile.SYMTYPE, target=f"late{i}.bin" if i % 8 == 1 else "../first.bin")
        if i == 2: put("first.bin", b"f" * 1500)
        if i % 4 == 3: put(name + ".hard", kind=tarfile.LNKTYPE, target="first.bin")
    for i in range(1, 40, 8): put(f"d{i - i % 7}/late{i}.bin", b"l" * (100 * i))
)";

std::string lines() {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += std::string(i % 9, ' ') + std::string(i * 13 % 300, 'x') + "\n";
  return text + "last";
}

std::string bytes_of(auto number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

std::string masked_crc(const std::string& bytes) {
  const std::uint32_t crc = crc32c(0, as_bytes(bytes));
  return bytes_of(((crc >> 15) | (crc << 17)) + 0xA282EAD8U);
}

std::string tf_record_frame(const std::string& data) {
  const std::string length = bytes_of(std::uint64_t{data.size()});
  return length + masked_crc(length) + data + masked_crc(data);
}

class ScanParts : public RecordTest {
 protected:
  struct Found {
    std::string index;  // encoded
    std::uint64_t meta_files = 0;
  };
  // Scans in windows of this size. After each window, everything is kept in `journal`, if there is
  // one, until the scan is at `stop`: then nothing is found.
  static Found scan(const ScanSpec& spec, const source::ObjectInfo& object,
                    const std::string& bytes, std::uint64_t skip, std::size_t window,
                    ScanJournal* journal, std::uint64_t stop = UINT64_MAX) {
    const auto scan = spec.make_scan(object, skip);
    std::size_t kept = 0;
    for (const ScanPart& part :
         journal != nullptr ? journal->take(object).parts : std::vector<ScanPart>()) {
      EXPECT_TRUE(scan->restore(part));
      kept += part.records.size();
    }
    while (!scan->done()) {
      if (scan->position() >= stop) return {};
      const std::size_t size = std::max<std::size_t>(window, scan->needed());
      const Status status = scan->take(as_bytes(bytes).subspan(
          scan->position(), std::min(size, bytes.size() - scan->position())));
      EXPECT_TRUE(status.ok()) << status.message();
      if (!status.ok()) return {};
      const std::size_t complete = scan->complete();
      if (journal == nullptr || complete <= kept || scan->done()) continue;
      journal->add(object, kept, scan->part(kept, complete), false);
      kept = complete;
    }
    Shard shard{object, 0, scan->table().size()};
    return {encode_index({{shard}, scan->take_table()}), scan->meta_files()};
  }

  // Interrupts a scan at many places, and its continuation too.
  void expect_continued(const ScanSpec& spec, const std::string& bytes) const {
    const source::ObjectInfo object{"file:/shard", bytes.size(), "version"};
    for (const std::uint64_t skip : {std::uint64_t{0}, kSkipNothing}) {
      for (const std::size_t window : {512U, 1300U}) {
        const Found whole = scan(spec, object, bytes, skip, window, nullptr);
        ASSERT_FALSE(whole.index.empty());
        for (std::uint64_t stop = 1; stop < bytes.size(); stop += bytes.size() / 23) {
          std::filesystem::remove(path("scans"));
          for (const std::uint64_t until : {stop, (stop + bytes.size()) / 2}) {
            ScanJournal journal(path("scans"));
            scan(spec, object, bytes, skip, window, &journal, until);
          }
          ScanJournal journal(path("scans"));
          const Found found = scan(spec, object, bytes, skip, window, &journal);
          EXPECT_TRUE(found.index == whole.index) << skip << " " << window << " " << stop;
          EXPECT_EQ(found.meta_files, whole.meta_files) << skip << " " << window << " " << stop;
        }
      }
    }
  }
};

TEST_F(ScanParts, OfATarGiveTheSameRecordsPartsAndChecksums) {
  for (const char* format : {"1", "2"}) {  // GNU, pax
    run_python(kWriteTar, {path("a.tar"), format});
    expect_continued(tar_scan_spec(), read("a.tar"));
  }
}

TEST_F(ScanParts, OfTfRecordsAndLinesGiveTheSameRecordsAndChecksums) {
  expect_continued(line_scan_spec("text"), lines());
  std::string frames;
  for (int i = 0; i < 30; ++i) frames += tf_record_frame(std::string(i * 41 % 700, 't'));
  expect_continued(tfrecord_scan_spec(), frames);
}

TEST_F(ScanParts, ADamagedEntryOrAnotherVersionEndsWhatIsUsed) {
  const std::string bytes = lines();
  const source::ObjectInfo object{"file:/shard", bytes.size(), "version"};
  {
    ScanJournal journal(path("scans"));
    scan(line_scan_spec("text"), object, bytes, kSkipNothing, 600, &journal, bytes.size() - 1);
  }
  source::ObjectInfo changed = object;
  changed.version = "other";
  EXPECT_TRUE(ScanJournal(path("scans")).take(changed).parts.empty());
  const std::size_t all = ScanJournal(path("scans")).take(object).parts.size();
  ASSERT_GT(all, 5U);
  // In the middle: the entries before it are good.
  std::string damaged = read("scans");
  damaged[damaged.size() / 2] ^= 1;
  write("scans", damaged);
  const std::size_t good = ScanJournal(path("scans")).take(object).parts.size();
  EXPECT_GT(good, 0U);
  EXPECT_LT(good, all);
  EXPECT_LT(std::filesystem::file_size(path("scans")), damaged.size());
  // A scan that began again.
  ScanJournal(path("scans")).forget(object);
  EXPECT_TRUE(ScanJournal(path("scans")).take(object).parts.empty());
}

}  // namespace
}  // namespace echoline::record
