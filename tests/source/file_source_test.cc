// Local files: listing, scattered reads, and files that change.
#include "source/local/file_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "source/open/open_source.h"
#include "source/reading.h"

namespace echoline::source {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class FileSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/echoline-files-XXXXXX";
    root_ = ::mkdtemp(name);
    source_ = open();
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<Source> open() {
    v1::Read read;
    read.add_url(root_ + "/*");
    auto source = open_source(read);
    EXPECT_TRUE(source.ok());
    return std::move(source).value();
  }

  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name, std::ios::binary) << bytes;
  }

  // The names below the root that a pattern lists.
  std::vector<std::string> names(const std::string& pattern) {
    const auto listed = source_->list(root_ + "/" + pattern);
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::vector<std::string> result;
    if (listed.ok())
      for (const ObjectInfo& info : *listed) result.push_back(info.url.substr(root_.size() + 1));
    return result;
  }

  ObjectInfo info(const std::string& name) { return source_->list(root_ + "/" + name)->at(0); }

  std::string root_;
  std::unique_ptr<Source> source_;
};

TEST_F(FileSourceTest, WhatIsPutReplacesTheFileAsAWhole) {
  write("a b*.tar", "before");
  for (const std::string& content : {pattern_bytes(100'000), std::string("after")}) {
    const Status status = source_->put("file://" + root_ + "/a b*.tar", content);
    ASSERT_TRUE(status.ok()) << status.message();
    std::string got(content.size(), 0);
    EXPECT_TRUE(read_into(*source_, info("a b\\*.tar"), 0, got).ok());
    EXPECT_EQ(got, content);
  }
  EXPECT_THAT(names("*"), ElementsAre("a b*.tar"));
  const Status status = source_->put(root_ + "/a b*.tar/below", "x");
  EXPECT_THAT(status.message(), HasSubstr("/a b*.tar/below"));
}

TEST_F(FileSourceTest, PatternsListFilesBytewiseSorted) {
  for (const char* name : {"b.tar", "a.tar", "B.tar", "c.txt", "sub/d.tar", "sub/deep/e.tar"})
    write(name, "x");
  EXPECT_THAT(names("*.tar"), ElementsAre("B.tar", "a.tar", "b.tar"));
  EXPECT_THAT(names("*/*.tar"), ElementsAre("sub/d.tar"));
  EXPECT_THAT(names("[ac].*"), ElementsAre("a.tar", "c.txt"));
  EXPECT_THAT(names("sub/"), ElementsAre("sub/d.tar", "sub/deep/e.tar"));
  EXPECT_THAT(names("s*/deep/"), ElementsAre("sub/deep/e.tar"));
  EXPECT_THAT(names("a.tar"), ElementsAre("a.tar"));
}

TEST_F(FileSourceTest, FileUrlsListFileUrls) {
  write("a.tar", "abc");
  const auto listed = source_->list("file://" + root_ + "/*");
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->at(0).url, "file://" + root_ + "/a.tar");
  EXPECT_EQ(listed->at(0).bytes, 3U);
  std::string bytes(3, 0);
  EXPECT_TRUE(read_into(*source_, listed->at(0), 0, bytes).ok());
  EXPECT_EQ(bytes, "abc");
}

TEST_F(FileSourceTest, AMissingFileIsNamedWithWhatToDo) {
  const Status status = source_->list(root_ + "/none.tar").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(root_ + "/none.tar"));
  EXPECT_THAT(status.message(), HasSubstr("check the path"));
  EXPECT_EQ(source_->list(root_ + "/*.none").status().code(), Code::kNotFound);
  EXPECT_EQ(source_->list(root_ + "/none/").status().code(), Code::kNotFound);
}

TEST_F(FileSourceTest, AFolderWithoutItsSlashIsExplained) {
  write("sub/a", "x");
  EXPECT_THAT(source_->list(root_ + "/sub").status().message(), HasSubstr("end it in '/'"));
}

TEST_F(FileSourceTest, LinksAreFollowedAndLoopsAndDanglingOnesAreErrors) {
  write("data/a", "x");
  fs::create_symlink(root_ + "/data", root_ + "/link");
  EXPECT_THAT(names("link/"), ElementsAre("link/a"));
  fs::create_symlink(root_ + "/nowhere", root_ + "/data/dangling");
  EXPECT_EQ(source_->list(root_ + "/data/").status().code(), Code::kNotFound);
  fs::remove(root_ + "/data/dangling");
  // Two such links would give an endless number of paths.
  fs::create_symlink(".", root_ + "/data/here");
  fs::create_symlink("..", root_ + "/data/up");
  EXPECT_THAT(source_->list(root_ + "/data/").status().message(), HasSubstr("leads back up"));
}

TEST_F(FileSourceTest, ScatteredSegmentsGetExactlyTheirBytes) {
  const std::string content = pattern_bytes(10 << 20);
  write("big", content);
  std::vector<std::string> parts = {std::string(1, 0), std::string(0, 0), std::string(5 << 20, 0),
                                    std::string(4 << 20, 0), std::string(100, 0)};
  const std::vector<std::uint64_t> offsets = {3, 4, 4, 4 + (5 << 20), (10 << 20) - 100};
  ReadRequest request;
  request.object = info("big");
  for (std::size_t i = 0; i < parts.size(); ++i)
    request.segments.push_back({offsets[i], bytes_of(parts[i])});
  source_->submit(std::move(request));
  EXPECT_TRUE(wait_for(*source_, 1)[0].ok());
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(parts[i], content.substr(offsets[i], parts[i].size())) << i;
  EXPECT_EQ(source_->counters().requests_ok, 1U);
  EXPECT_EQ(source_->counters().bytes, 1U + (9 << 20) + 100);
}

TEST_F(FileSourceTest, HundredsOfAdjacentSegmentsAreRead) {
  const std::string content = pattern_bytes(1000 * 10);
  write("records", content);
  std::string got(content.size(), 0);
  ReadRequest request;
  request.object = info("records");
  for (std::size_t i = 0; i < 1000; ++i)
    request.segments.push_back({i * 10, bytes_of(got).subspan(i * 10, 10)});
  source_->submit(std::move(request));
  EXPECT_TRUE(wait_for(*source_, 1)[0].ok());
  EXPECT_EQ(got, content);
}

TEST_F(FileSourceTest, MoreFilesThanAreKeptOpenAreRead) {
  std::vector<ObjectInfo> infos;
  for (int i = 0; i < 300; ++i) write("f" + std::to_string(i), std::to_string(i));
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 300; ++i) {
      const ObjectInfo object = info("f" + std::to_string(i));
      std::string bytes(object.bytes, 0);
      ASSERT_TRUE(read_into(*source_, object, 0, bytes).ok());
      ASSERT_EQ(bytes, std::to_string(i));
    }
}

TEST_F(FileSourceTest, AFileThatChangedIsAFailedPreconditionThatNamesIt) {
  write("a", "before");
  const ObjectInfo object = info("a");
  std::string bytes(6, 0);
  ASSERT_TRUE(read_into(*source_, object, 0, bytes).ok());
  write("a", "behind");
  const timespec times[2] = {{1000, 1}, {1000, 1}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ + "/a").c_str(), times, 0), 0);
  const Status kept_open = read_into(*source_, object, 0, bytes);
  EXPECT_EQ(kept_open.code(), Code::kFailedPrecondition);
  EXPECT_THAT(kept_open.message(), HasSubstr(root_ + "/a"));
  EXPECT_EQ(read_into(*open(), object, 0, bytes).code(), Code::kFailedPrecondition);
}

TEST_F(FileSourceTest, AFileThatWentAwayIsNotFound) {
  write("a", "x");
  const ObjectInfo object = info("a");
  fs::remove(root_ + "/a");
  std::string bytes(1, 0);
  EXPECT_EQ(read_into(*source_, object, 0, bytes).code(), Code::kNotFound);
  EXPECT_EQ(source_->counters().requests_failed, 1U);
}

TEST_F(FileSourceTest, AReadBeyondTheEndIsDataLoss) {
  write("a", "12345");
  std::string bytes(3, 0);
  const Status status = read_into(*source_, info("a"), 3, bytes);
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("it ends at byte 5"));
}

TEST_F(FileSourceTest, PollReturnsAtItsDeadlineAndWhenWoken) {
  std::vector<ReadResult> done;
  const std::uint64_t start = monotonic_ns();
  source_->poll(start + kSecondNs / 20, done);
  EXPECT_GE(monotonic_ns() - start, kSecondNs / 20);
  std::thread waker([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source_->wake();
  });
  source_->poll(monotonic_ns() + 60 * kSecondNs, done);
  EXPECT_LT(monotonic_ns() - start, 5 * kSecondNs);
  waker.join();
  EXPECT_TRUE(done.empty());
}

TEST_F(FileSourceTest, SlotsAreBoundedAndComeBack) {
  write("a", "x");
  const std::size_t slots = source_->slots_free();
  std::vector<std::string> bytes(slots, std::string(1, 0));
  for (std::size_t i = 0; i < slots; ++i) {
    ReadRequest request{i, info("a"), {{0, bytes_of(bytes[i])}}};
    source_->submit(std::move(request));
  }
  EXPECT_EQ(source_->slots_free(), 0U);
  EXPECT_EQ(source_->counters().in_flight, slots);
  wait_for(*source_, slots);
  EXPECT_EQ(source_->slots_free(), slots);
  EXPECT_EQ(source_->counters().in_flight, 0U);
}

TEST_F(FileSourceTest, RealShardsAreReadByteForByte) {
  const char* data = std::getenv("ECHOLINE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "ECHOLINE_TEST_DATA is not set";
  const auto urls = expand_braces(std::string(data) + "/imagenet/imagenet-{000000..000004}.tar");
  const auto shards = source_->list_all(*urls);
  ASSERT_TRUE(shards.ok()) << shards.status().message();
  for (const ObjectInfo& shard : *shards) {
    std::ifstream file(shard.url, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    ASSERT_EQ(content.size(), shard.bytes);
    std::string got(shard.bytes, 0);
    ReadRequest request;
    request.object = shard;
    for (std::size_t at = 0; at < got.size(); at += 70'001) {
      const std::size_t bytes = std::min<std::size_t>(70'001, got.size() - at);
      request.segments.push_back({at, bytes_of(got).subspan(at, bytes)});
    }
    source_->submit(std::move(request));
    ASSERT_TRUE(wait_for(*source_, 1)[0].ok());
    ASSERT_TRUE(got == content) << shard.url;
  }
}

}  // namespace
}  // namespace echoline::source
