// Plain web servers, against nginx; skipped if it is not installed.
#include <gmock/gmock.h>

#include <fstream>

#include "base/crc.h"
#include "servers/server_process.h"
#include "source/open/open_source.h"
#include "source/reading.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class WebTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<ServerProcess>("web_server.py"); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_->missing())
      GTEST_SKIP() << "no nginx or no openssl: deploy/install-packages.sh test";
    ASSERT_TRUE(server_->ready()) << "tests/servers/web_server.py did not start";
    put("shard.tar", content_);
  }

  static void put(const std::string& name, const std::string& bytes) {
    std::ofstream(server_->fact("root") + "/" + name, std::ios::binary) << bytes;
  }
  static std::string url(const std::string& path) { return server_->fact("endpoint") + path; }
  static std::string secure(const std::string& path) { return server_->fact("secure") + path; }
  static v1::Read read_step(const std::string& address) {
    v1::Read read;
    read.add_url(address);
    read.set_timeout(3 * kSecondNs);
    return read;
  }
  static Status status(const std::string& address) {
    return open_source(read_step(address)).status();
  }
  // Reads the middle of the content.
  void expect_content(const v1::Read& read) {
    auto source = open_source(read);
    ASSERT_TRUE(source.ok()) << source.status().message();
    const ObjectInfo info = (*source)->list(read.url(0))->at(0);
    EXPECT_EQ(info.bytes, content_.size());
    std::string bytes(200'000, 0);
    const Status got = read_into(**source, info, 1234, bytes);
    EXPECT_TRUE(got.ok()) << got.message();
    EXPECT_TRUE(bytes == content_.substr(1234, bytes.size()));
  }

  static std::unique_ptr<ServerProcess> server_;
  TestEnvironment environment_;
  const std::string content_ = pattern_bytes(1 << 20);
};

std::unique_ptr<ServerProcess> WebTest::server_;

TEST_F(WebTest, RangesOfAFileAreRead) { expect_content(read_step(url("/shard.tar"))); }

// A record of no bytes between others: each checksum is that of its own segment.
TEST_F(WebTest, EachSegmentHasItsChecksumAlsoAnEmptyOne) {
  auto source = open_source(read_step(url("/shard.tar")));
  ASSERT_TRUE(source.ok()) << source.status().message();
  const ObjectInfo info = (*source)->list(url("/shard.tar"))->at(0);
  std::string first(1000, 0), last(500, 0);
  ReadRequest request{.tag = 7,
                      .object = info,
                      .segments = {{10, bytes_of(first)}, {1010, {}}, {1010, bytes_of(last)}}};
  request.with_checksums = true;
  (*source)->submit(std::move(request));
  std::vector<ReadResult> done;
  const std::uint64_t deadline = monotonic_ns() + 60 * kSecondNs;
  while (done.empty() && monotonic_ns() < deadline) (*source)->poll(deadline, done);
  ASSERT_EQ(done.size(), 1U);
  ASSERT_TRUE(done[0].status.ok()) << done[0].status.message();
  EXPECT_THAT(done[0].checksums,
              ElementsAre(crc32c(0, bytes_of(first)), crc32c(0, {}), crc32c(0, bytes_of(last))));
}

TEST_F(WebTest, RedirectsAreFollowedAlsoFromHttpToHttps) {
  expect_content(read_step(url("/moved/shard.tar")));
  v1::Read read = read_step(url("/secure/shard.tar"));
  read.set_ca_file(server_->fact("ca_file"));
  expect_content(read);
}

TEST_F(WebTest, ARedirectNeverLeavesHttpsAndAnEndlessOneEnds) {
  v1::Read read = read_step(secure("/unsafe/shard.tar"));
  read.set_ca_file(server_->fact("ca_file"));
  EXPECT_THAT(open_source(read).status().message(), HasSubstr("Protocol \"http\""));
  EXPECT_THAT(status(url("/loop/shard.tar")).message(), HasSubstr("redirects"));
}

TEST_F(WebTest, ACertificateNeedsAnAuthorityThatIsNamed) {
  const Status refused = status(secure("/shard.tar"));
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_THAT(refused.message(), HasSubstr("`ca_file`"));
  v1::Read read = read_step(secure("/shard.tar"));
  read.set_ca_file(server_->fact("ca_file"));
  expect_content(read);
  read.set_url(0, "https://127.0.0.1:" + server_->fact("secure").substr(18) + "/shard.tar");
  EXPECT_THAT(open_source(read).status().message(), HasSubstr("can't be trusted"));
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"}) {
    TestEnvironment environment({{name, server_->fact("ca_file")}});
    expect_content(read_step(secure("/shard.tar")));
  }
  read.set_ca_file("/nonexistent/ca.pem");
  EXPECT_THAT(open_source(read).status().message(), HasSubstr("ca_file: /nonexistent/ca.pem"));
}

TEST_F(WebTest, ABraceListIsAskedAboutInItsOrder) {
  for (const char* name : {"train-000.tar", "train-001.tar", "train 2.tar"}) put(name, name);
  auto source = open_source(read_step(url("/train-{000..001}.tar")));
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto all = (*source)->list_all(
      {url("/train-001.tar"), url("/train%202.tar"), url("/train-000.tar"), url("/train 2.tar")});
  ASSERT_TRUE(all.ok()) << all.status().message();
  std::vector<std::uint64_t> sizes;
  for (const ObjectInfo& info : *all) sizes.push_back(info.bytes);
  EXPECT_THAT(sizes, ElementsAre(13U, 11U, 13U, 11U));
  const Status missing = (*source)->list_all({url("/train-000.tar"), url("/none.tar")}).status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("/none.tar"), HasSubstr("404")));
  EXPECT_THAT(status(url("/train-*.tar")).message(), HasSubstr("brace list"));
}

TEST_F(WebTest, AChangedFileIsAFailedPreconditionByTagOrByDate) {
  for (const char* path : {"/changing", "/dated/changing"}) {
    put("changing", "first content");
    ASSERT_EQ(::system(("touch -d @1500000000 " + server_->fact("root") + "/changing").c_str()), 0);
    auto source = open_source(read_step(url(path)));
    ASSERT_TRUE(source.ok()) << source.status().message();
    const ObjectInfo info = (*source)->list(url(path))->at(0);
    std::string bytes(5, 0);
    EXPECT_TRUE(read_into(**source, info, 0, bytes).ok());
    put("changing", "other content");
    const Status changed = read_into(**source, info, 0, bytes);
    EXPECT_EQ(changed.code(), Code::kFailedPrecondition) << changed.message();
    EXPECT_THAT(changed.message(), AllOf(HasSubstr(path), HasSubstr("412")));
  }
}

TEST_F(WebTest, AnEmptyFileIsNothingSpecial) {
  put("empty", "");
  auto source = open_source(read_step(url("/empty")));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ((*source)->list(url("/empty"))->at(0).bytes, 0U);
}

TEST_F(WebTest, AServerThatWouldGiveWrongOrSlowAnswersIsRefused) {
  EXPECT_THAT(status(url("/whole/shard.tar")).message(), HasSubstr("no ranges"));
  EXPECT_THAT(status(url("/bare/shard.tar")).message(), HasSubstr("could go unnoticed"));
  const Status locked = status(url("/locked/shard.tar"));
  EXPECT_EQ(locked.code(), Code::kPermissionDenied);
  EXPECT_THAT(locked.message(), HasSubstr("without credentials"));
}

TEST_F(WebTest, NothingIsWrittenToAWebServer) {
  const Status status = open_source(read_step(url("/shard.tar")), Access::kWrite).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("/shard.tar: nothing can be written to a web server"));
}

TEST_F(WebTest, SettingsOfOtherStoresAreRefused) {
  v1::Read read = read_step(url("/shard.tar"));
  read.set_endpoint("http://127.0.0.1:1");
  EXPECT_THAT(open_source(read).status().message(), HasSubstr("`endpoint` does not apply to http"));
  read.clear_endpoint();
  read.set_credentials("environment");
  EXPECT_THAT(open_source(read).status().message(),
              HasSubstr("`credentials` does not apply to http"));
}

class ProxyTest : public WebTest {
 protected:
  void SetUp() override {
    WebTest::SetUp();
    if (IsSkipped()) return;
    proxy_ = std::make_unique<ServerProcess>("proxy_server.py");
    ASSERT_TRUE(proxy_->ready());
  }
  int count() { return std::stoi(web_ask("GET", proxy_->fact("endpoint") + "/count").body); }
  static std::string port() { return server_->fact("endpoint").substr(17); }

  std::unique_ptr<ServerProcess> proxy_;
};

TEST_F(ProxyTest, HttpGoesThroughTheProxyOfTheEnvironment) {
  environment_.set("http_proxy", proxy_->fact("endpoint"));
  expect_content(read_step("http://data.test:" + port() + "/shard.tar"));
  EXPECT_GE(count(), 2);
}

TEST_F(ProxyTest, HttpsGoesThroughItInATunnelAndStaysVerified) {
  environment_.set("https_proxy", proxy_->fact("endpoint"));
  v1::Read read = read_step(secure("/shard.tar"));
  EXPECT_EQ(open_source(read).status().code(), Code::kPermissionDenied);
  read.set_ca_file(server_->fact("ca_file"));
  expect_content(read);
  EXPECT_GE(count(), 2);
}

TEST_F(ProxyTest, HostsThatNeedNoneAreReachedDirectly) {
  environment_.set("http_proxy", "http://127.0.0.1:1");
  EXPECT_THAT(status(url("/shard.tar")).message(), HasSubstr("proxy settings"));
  environment_.set("no_proxy", "localhost,127.0.0.1");
  expect_content(read_step(url("/shard.tar")));
}

}  // namespace
}  // namespace echoline::source
