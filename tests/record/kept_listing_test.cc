// Stored listings of local files: used if nothing has changed, and never after a name has changed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "record/core/open_options.h"
#include "record/index/folder_state.h"
#include "record/index/index_path.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Waits until a listing can be stored: before, a change could have the same timestamp.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

class KeptListingTest : public RecordTest {
 protected:
  static v1::Read folder(const std::string& name) { return read_of({name}, "folder"); }
  Opened open_kept(const v1::Read& read) const { return open(read, path("state")); }
  bool is_kept(const v1::Read& read) const {
    return fs::exists(stored_index_path(read, read.format(), path("state")));
  }
  // Overwrites a file without a change of its folder.
  void write_in_place(std::string_view name, std::string_view content) const {
    const fs::file_time_type folder = fs::last_write_time(fs::path(path(name)).parent_path());
    write(name, content);
    ASSERT_EQ(fs::last_write_time(fs::path(path(name)).parent_path()), folder);
  }
};

std::vector<std::string> keys(const Opened& opened) {
  std::vector<std::string> keys;
  const Index& index = (*opened.set)->index();
  for (std::uint64_t i = 0; i < index.record_count(); ++i) keys.push_back(index.key(i));
  return keys;
}

TEST_F(KeptListingTest, IsTrustedAndAFileChangedInPlaceIsAnErrorThatARestartHeals) {
  write("d/a/1.jpg", "one");
  write("d/b/2.jpg", "two");
  settle();
  const v1::Read read = folder(path("d"));
  const std::vector<CutRecord> before = open_kept(read).cut_all();
  ASSERT_TRUE(is_kept(read));
  EXPECT_EQ(open_kept(read).cut_all(), before);
  write_in_place("d/b/2.jpg", "two, longer");
  const Opened trusting = open_kept(read);
  EXPECT_EQ((*trusting.set)->index().extent(1).bytes, 3U);
  EXPECT_TRUE(trusting.cut(0).status.ok());
  ASSERT_TRUE(is_kept(read));
  const Status changed = trusting.cut(1).status;
  EXPECT_EQ(changed.code(), Code::kFailedPrecondition);
  EXPECT_THAT(changed.message(), HasSubstr("d/b/2.jpg: it changed"));
  EXPECT_FALSE(is_kept(read));
  EXPECT_EQ(open_kept(read).cut(1).fields.at("jpg"), "two, longer");
  EXPECT_TRUE(is_kept(read));
}

TEST_F(KeptListingTest, AutoTakesItAsWell) {
  write("d/a/1.jpg", "one");
  settle();
  const v1::Read read = read_of({path("d/")});
  ASSERT_EQ((*open_kept(read).set)->format(), "folder");
  write_in_place("d/a/1.jpg", "other");
  const Opened trusting = open_kept(read);
  EXPECT_EQ((*trusting.set)->format(), "folder");
  EXPECT_EQ((*trusting.set)->index().extent(0).bytes, 3U);
}

TEST_F(KeptListingTest, EveryNameThatChangesIsSeenAtTheNextStart) {
  struct Change {
    std::string tree;
    std::function<void(const std::string& tree)> make;
    std::vector<std::string> keys;
  };
  const std::vector<Change> changes = {
      {"added",
       [&](const std::string& t) { write(t + "/a/2.jpg", "2"); },
       {"a/1.jpg", "a/2.jpg", "b/1.jpg"}},
      {"added to an empty class",
       [&](const std::string& t) { write(t + "/empty/1.jpg", "1"); },
       {"a/1.jpg", "b/1.jpg", "empty/1.jpg"}},
      {"added deep down",
       [&](const std::string& t) { write(t + "/empty/deep/er/1.jpg", "1"); },
       {"a/1.jpg", "b/1.jpg", "empty/deep/er/1.jpg"}},
      {"removed", [&](const std::string& t) { fs::remove(path(t + "/a/1.jpg")); }, {"b/1.jpg"}},
      {"file renamed",
       [&](const std::string& t) { fs::rename(path(t + "/a/1.jpg"), path(t + "/a/3.jpg")); },
       {"a/3.jpg", "b/1.jpg"}},
      {"class renamed",
       [&](const std::string& t) { fs::rename(path(t + "/b"), path(t + "/c")); },
       {"a/1.jpg", "c/1.jpg"}},
      {"classes exchanged",
       [&](const std::string& t) {
         write(t + "/b/2.jpg", "2");
         fs::rename(path(t + "/a"), path(t + "/x"));
         fs::rename(path(t + "/b"), path(t + "/a"));
         fs::rename(path(t + "/x"), path(t + "/b"));
       },
       {"a/1.jpg", "a/2.jpg", "b/1.jpg"}},
      {"time set back",
       [&](const std::string& t) {
         const fs::file_time_type before = fs::last_write_time(path(t + "/a"));
         write(t + "/a/2.jpg", "2");
         fs::last_write_time(path(t + "/a"), before);
       },
       {"a/1.jpg", "a/2.jpg", "b/1.jpg"}},
  };
  for (const Change& change : changes) {
    write(change.tree + "/a/1.jpg", "one");
    write(change.tree + "/b/1.jpg", "one");
    fs::create_directories(path(change.tree + "/empty/deep/er"));
  }
  settle();
  for (const Change& change : changes) {
    const v1::Read read = folder(path(change.tree));
    EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg", "b/1.jpg"));
    ASSERT_TRUE(is_kept(read)) << change.tree;
    change.make(change.tree);
    EXPECT_EQ(keys(open_kept(read)), change.keys) << change.tree;
  }
}

TEST_F(KeptListingTest, ClassFoldersBehindLinksAreWatchedWhereTheyAre) {
  write("real/1.jpg", "one");
  write("other/3.jpg", "three");
  fs::create_directories(path("d/a"));
  write("d/a/1.jpg", "one");
  fs::create_directory_symlink(path("real"), path("link"));
  fs::create_directory_symlink(path("link"), path("d/b"));
  settle();
  const v1::Read read = folder(path("d"));
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg", "b/1.jpg"));
  ASSERT_TRUE(is_kept(read));
  // Outside of the folder: nothing in the folder changes.
  write("real/2.jpg", "two");
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg", "b/1.jpg", "b/2.jpg"));
  settle();
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg", "b/1.jpg", "b/2.jpg"));
  fs::remove(path("link"));
  fs::create_directory_symlink(path("other"), path("link"));
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg", "b/3.jpg"));
}

TEST_F(KeptListingTest, AFolderThatHasJustChangedIsNotKept) {
  write("d/a/1.jpg", "one");
  const v1::Read read = folder(path("d"));
  ASSERT_TRUE(open_kept(read).set.ok());
  EXPECT_FALSE(is_kept(read));
}

TEST_F(KeptListingTest, StatesProveNothingBeforeAClockHasMovedOnAndWhereFoldersBearNoTimes) {
  fs::create_directory(path("d"));
  struct stat info {};
  ASSERT_EQ(::stat(path("d").c_str(), &info), 0);
  const std::int64_t changed_ns =
      static_cast<std::int64_t>(info.st_ctim.tv_sec) * 1'000'000'000 + info.st_ctim.tv_nsec;
  EXPECT_FALSE(states_of({path("d")}, changed_ns));
  EXPECT_FALSE(states_of({path("d")}, changed_ns + 1'999'999'999));
  const auto states = states_of({path("d")}, changed_ns + 2'000'000'000);
  ASSERT_TRUE(states);
  EXPECT_TRUE(are_unchanged(*states));
  EXPECT_FALSE(states_of({path("none")}, changed_ns + 2'000'000'000));
  EXPECT_FALSE(states_of({"/proc"}, wall_clock_ns() + 2'000'000'000));
  fs::remove(path("d"));
  EXPECT_FALSE(are_unchanged(*states));
}

TEST_F(KeptListingTest, ADamagedOneIsMadeAnew) {
  write("d/a/1.jpg", "one");
  settle();
  const v1::Read read = folder(path("d"));
  ASSERT_TRUE(open_kept(read).set.ok());
  const std::string kept = stored_index_path(read, "folder", path("state"));
  fs::resize_file(kept, fs::file_size(kept) - 1);
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("a/1.jpg"));
  fs::rename(kept, kept + ".other");  // the new listing is complete
  EXPECT_TRUE(open_kept(read).set.ok());
}

TEST_F(KeptListingTest, SeveralFoldersAreKeptTogetherAndLocalOnesAreNotPublished) {
  write("1/b/1.jpg", "1");
  write("2/a/2.jpg", "2");
  write("3/README", "no class");
  settle();
  const v1::Read read = folder(path("{1,2,3}/"));
  const std::vector<CutRecord> before = open_kept(read).cut_all();
  ASSERT_TRUE(is_kept(read));
  write_in_place("2/a/2.jpg", "longer");
  const Opened again = open_kept(read);
  EXPECT_EQ((*again.set)->index().extent(1).bytes, 1U);
  EXPECT_EQ(again.cut(0), before[0]);
  const Status published = again.publish().status();
  EXPECT_EQ(published.code(), Code::kInvalidArgument);
  EXPECT_THAT(published.message(), HasSubstr("each host keeps its own"));
}

TEST_F(KeptListingTest, ListedFilesAreTrustedUntilTheirFoldersOrTheListChange) {
  write("d/1.jpg", "one");
  write("e/2.jpg", "two");
  write("list.csv", "d/1.jpg,0\n" + path("e/2.jpg") + ",1\n");
  settle();
  const v1::Read read = read_of({path("list.csv")}, "files");
  const std::vector<CutRecord> before = open_kept(read).cut_all();
  ASSERT_TRUE(is_kept(read));
  EXPECT_EQ(open_kept(read).cut_all(), before);
  write_in_place("d/1.jpg", "longer");
  EXPECT_EQ(open_kept(read).cut(0).status.code(), Code::kFailedPrecondition);
  EXPECT_FALSE(is_kept(read));
  EXPECT_EQ(open_kept(read).cut(0).fields.at("jpg"), "longer");
  ASSERT_TRUE(is_kept(read));
  write_in_place("list.csv", path("e/2.jpg") + ",1\nd/1.jpg,0\n");
  EXPECT_EQ(open_kept(read).cut(1).fields.at("jpg"), "longer");
  write("list.csv", "d/1.jpg,0\n");
  EXPECT_THAT(keys(open_kept(read)), ElementsAre("d/1.jpg"));
  fs::remove(path("d/1.jpg"));
  EXPECT_EQ(open_kept(read).set.status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace echoline::record
