// Data sets on the Hub: a real server with its interface and a second one for the bytes, which
// refuses requests that carry the token.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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
using testing::Not;

class HubTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("hub_server.py");
    // The order of commits decides which one the branch means.
    put("README.md", "words");
    put("data/b.tar", "second");
    put("data/sub/c.tar", "third");
    put("data/a.tar", pattern_bytes(1 << 20));
    put("data/d#e ä.tar", "fourth");
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    ASSERT_TRUE(server_->ready()) << "tests/servers/hub_server.py did not start";
    set("token=&private=&gated=&page=1000&throttle=0&lifetime=1000000&downgrade=&circle=");
    before_ = counts();
  }

  // Makes a commit, and returns its name.
  static std::string put(const std::string& path, const std::string& bytes,
                         const std::string& branch = "main") {
    const std::string query =
        "repo=photos/set&branch=" + escaped(branch) + "&path=" + escaped(path);
    return web_ask("POST", server_->fact("endpoint") + "/test/commit?" + query, bytes).body;
  }
  static std::string escaped(const std::string& text) {
    char* made = curl_easy_escape(nullptr, text.c_str(), static_cast<int>(text.size()));
    std::string result(made);
    curl_free(made);
    return result;
  }
  static void set(const std::string& settings) {
    ASSERT_EQ(web_ask("GET", server_->fact("endpoint") + "/test/set?" + settings).status, 200);
  }
  static void expire() { web_ask("GET", server_->fact("endpoint") + "/test/expire"); }
  static nlohmann::json counts() {
    return nlohmann::json::parse(web_ask("GET", server_->fact("endpoint") + "/test/counts").body);
  }
  // How often the server has done this since the test began.
  std::uint64_t done(const char* what) const {
    return counts().value(what, 0U) - before_.value(what, 0U);
  }
  static v1::Read read_step(const std::string& path) {
    v1::Read read;
    read.add_url("hf://datasets/photos/set" + path);
    read.set_endpoint(server_->fact("endpoint"));
    read.set_timeout(4 * kSecondNs);
    return read;
  }
  static std::unique_ptr<Source> open(const v1::Read& read) {
    auto source = open_source(read);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? std::move(*source) : nullptr;
  }
  static std::vector<ObjectInfo> list(const v1::Read& read) {
    const auto source = open(read);
    if (!source) return {};
    auto listed = source->list_all({read.url().begin(), read.url().end()});
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    return listed.ok() ? *listed : std::vector<ObjectInfo>();
  }
  static std::vector<std::string> names(const v1::Read& read) {
    std::vector<std::string> names;
    for (const ObjectInfo& info : list(read)) names.push_back(info.url);
    return names;
  }
  static Status status(const v1::Read& read) {
    auto source = open_source(read);
    if (!source.ok()) return source.status();
    auto listed = (*source)->list(read.url(0));
    if (!listed.ok()) return listed.status();
    std::string bytes(3, 0);
    return read_into(**source, listed->at(0), 0, bytes);
  }

  static TestEnvironment::Variables token(const std::string& text) {
    return TestEnvironment::Variables{{"HF_TOKEN", text}};
  }

  static std::unique_ptr<ServerProcess> server_;
  TestEnvironment environment_;
  nlohmann::json before_;
};

std::unique_ptr<ServerProcess> HubTest::server_;

const std::string kSet = "hf://datasets/photos/set";

TEST_F(HubTest, PatternsAndFoldersAreListedPageByPage) {
  set("page=2");
  EXPECT_THAT(names(read_step("/data/*.tar")),
              ElementsAre(kSet + "/data/a.tar", kSet + "/data/b.tar", kSet + "/data/d#e ä.tar"));
  EXPECT_THAT(names(read_step("@main/data/")),
              ElementsAre(kSet + "@main/data/a.tar", kSet + "@main/data/b.tar",
                          kSet + "@main/data/d#e ä.tar", kSet + "@main/data/sub/c.tar"));
  EXPECT_THAT(names(read_step("/*/sub/*")), ElementsAre(kSet + "/data/sub/c.tar"));
  EXPECT_EQ(names(read_step("")).size(), 5U);
  EXPECT_EQ(status(read_step("/none/*.tar")).code(), Code::kNotFound);
  EXPECT_EQ(status(read_step("/data/*.parquet")).code(), Code::kNotFound);
}

TEST_F(HubTest, ABraceListIsAskedAboutWithOneRequestInItsOrder) {
  v1::Read read = read_step("/data/b.tar");
  read.add_url(kSet + "/README.md");
  read.add_url(kSet + "/data/b.tar");
  std::vector<std::uint64_t> sizes;
  for (const ObjectInfo& info : list(read)) sizes.push_back(info.bytes);
  EXPECT_THAT(sizes, ElementsAre(6U, 5U, 6U));
  // Two: over http an answer counts when a second one is equal.
  EXPECT_EQ(done("paths-info"), 2U);
  const Status missing = status(read_step("/data/none.tar"));
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr(kSet + "/data/none.tar: there is no such file"));
}

TEST_F(HubTest, BytesComeFromTheStorageAndItsAddressIsAskedForOnce) {
  const auto source = open(read_step("/data/a.tar"));
  const ObjectInfo info = source->list(kSet + "/data/a.tar")->at(0);
  for (const std::uint64_t offset : {0U, 4321U, 1000U}) {
    std::string bytes(200'000, 0);
    const Status got = read_into(*source, info, offset, bytes);
    EXPECT_TRUE(got.ok()) << got.message();
    EXPECT_TRUE(bytes == pattern_bytes(1 << 20).substr(offset, bytes.size()));
  }
  EXPECT_EQ(done("resolve"), 1U);
  EXPECT_EQ(done("storage"), 3U);
  EXPECT_EQ(source->counters().requests_redirected, 1U);
  EXPECT_EQ(source->counters().requests_retried, 0U);
}

TEST_F(HubTest, SmallFilesAndUnusualNamesAreRead) {
  for (const auto& [path, content] :
       {std::pair{"/README.md", "words"}, {"/data/d#e ä.tar", "fourth"}}) {
    const auto source = open(read_step(path));
    std::string bytes(std::string_view(content).size() - 1, 0);
    const Status got = read_into(*source, source->list(kSet + path)->at(0), 1, bytes);
    EXPECT_TRUE(got.ok()) << got.message();
    EXPECT_EQ(bytes, std::string(content).substr(1));
  }
}

TEST_F(HubTest, ABranchIsItsCommitFromTheStartOn) {
  const std::string first = put("data/x.tar", "old", "moving");
  const auto source = open(read_step("@moving/data/x.tar"));
  const std::string second = put("data/x.tar", "new and longer", "moving");
  // Neither the listing nor a read sees the new commit.
  const ObjectInfo info = source->list(kSet + "@moving/data/x.tar")->at(0);
  EXPECT_EQ(info.version, first);
  std::string bytes(3, 0);
  EXPECT_TRUE(read_into(*source, info, 0, bytes).ok());
  EXPECT_EQ(bytes, "old");
  // The next start does, and reads of the old objects still get the old bytes.
  const auto later = open(read_step("@moving/data/x.tar"));
  EXPECT_EQ(later->list(kSet + "@moving/data/x.tar")->at(0).version, second);
  EXPECT_TRUE(read_into(*later, info, 0, bytes).ok());
  EXPECT_EQ(bytes, "old");
  EXPECT_EQ(list(read_step("@" + first + "/data/x.tar")).at(0).bytes, 3U);
}

TEST_F(HubTest, ARevisionCanHaveASlashInEitherSpelling) {
  put("data/p.tar", "converted", "refs/convert/parquet");
  for (const char* revision : {"@refs%2Fconvert%2Fparquet", "@refs/convert/parquet"})
    EXPECT_THAT(names(read_step(std::string(revision) + "/data/*")),
                ElementsAre(kSet + revision + "/data/p.tar"));
  const Status missing = status(read_step("@none/data/*"));
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(missing.message(),
              AllOf(HasSubstr(kSet + "@none/"), HasSubstr("no such branch, tag or commit")));
}

TEST_F(HubTest, AnAddressThatExpiredIsAskedForAgainWithoutAPause) {
  const auto source = open(read_step("/data/a.tar"));
  const ObjectInfo info = source->list(kSet + "/data/a.tar")->at(0);
  std::string bytes(100, 0);
  ASSERT_TRUE(read_into(*source, info, 0, bytes).ok());
  expire();
  EXPECT_TRUE(read_into(*source, info, 500, bytes).ok());
  EXPECT_EQ(bytes, pattern_bytes(1 << 20).substr(500, 100));
  EXPECT_EQ(done("expired"), 1U);
  EXPECT_EQ(done("resolve"), 2U);
  EXPECT_EQ(source->counters().requests_retried, 0U);
}

TEST_F(HubTest, AStorageThatRefusesEveryAddressIsAnErrorWithinTheTimeLimit) {
  set("lifetime=0");
  v1::Read read = read_step("/data/a.tar");
  read.set_timeout(kSecondNs);
  const Status refused = status(read);
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr(kSet + "/data/a.tar"), HasSubstr("localhost"),
                                       HasSubstr("403"), Not(HasSubstr("Signature"))));
  EXPECT_LT(done("resolve"), 30U);
}

TEST_F(HubTest, RedirectsThatLeaveHttpOrGoInACircleAreErrors) {
  set("downgrade=1");
  EXPECT_THAT(status(read_step("/data/a.tar")).message(), HasSubstr("can't be followed"));
  set("downgrade=&circle=1");
  EXPECT_THAT(status(read_step("/data/a.tar")).message(), HasSubstr("in a circle"));
  EXPECT_LT(done("resolve"), 12U);
}

TEST_F(HubTest, TheTokenGoesToTheHubAndNeverToTheStorage) {
  set("token=hf_secret&private=1");
  const TestEnvironment environment(token("hf_secret"));
  const Status got = status(read_step("/data/a.tar"));
  EXPECT_TRUE(got.ok()) << got.message();
  EXPECT_GT(done("storage"), 0U);
  EXPECT_EQ(done("leaks"), 0U);
}

TEST_F(HubTest, AMissingAWrongAndAnInsufficientTokenSayWhatToDo) {
  set("token=hf_secret&private=1");
  EXPECT_THAT(status(read_step("/data/a.tar")).message(),
              AllOf(HasSubstr(kSet), HasSubstr("401"), HasSubstr("set HF_TOKEN")));
  {
    const TestEnvironment environment(token("hf_wrong"));
    const Status wrong = status(read_step("/data/a.tar"));
    EXPECT_EQ(wrong.code(), Code::kPermissionDenied);
    EXPECT_THAT(wrong.message(),
                AllOf(HasSubstr("the token is not accepted"), Not(HasSubstr("hf_wrong"))));
  }
  set("private=&gated=1");
  EXPECT_THAT(status(read_step("/data/a.tar")).message(),
              AllOf(HasSubstr("is gated: accept its terms"), HasSubstr("HF_TOKEN")));
  set("gated=2");
  const TestEnvironment environment(token("hf_secret"));
  const Status gated = status(read_step("/data/a.tar"));
  EXPECT_EQ(gated.code(), Code::kPermissionDenied);
  EXPECT_THAT(gated.message(), HasSubstr("with the account of the token"));
}

TEST_F(HubTest, ATokenComesFromEachPlaceOfHuggingFacesTools) {
  set("token=hf_secret&private=1");
  const std::filesystem::path home = testing::TempDir() + "hub_home";
  std::filesystem::create_directories(home / ".cache/huggingface");
  std::ofstream(home / "token") << "hf_secret\n";
  std::ofstream(home / ".cache/huggingface/token") << "hf_secret";
  const std::vector<TestEnvironment::Variables> places = {
      {{"HF_TOKEN_PATH", home / "token"}},
      {{"HF_HOME", home}},
      {{"HOME", home}},
      {{"XDG_CACHE_HOME", home / ".cache"}},
      {{"HUGGING_FACE_HUB_TOKEN", "hf_secret"}}};
  for (const auto& variables : places) {
    const TestEnvironment environment(variables);
    const Status got = status(read_step("/data/b.tar"));
    EXPECT_TRUE(got.ok()) << variables[0].first << ": " << got.message();
  }
  const TestEnvironment environment(token("hf_wrong"));
  v1::Read read = read_step("/data/b.tar");
  read.set_credentials_file(home / "token");
  EXPECT_TRUE(status(read).ok()) << "the file of the read step comes before the environment";
  read.set_credentials_file(home / "none");
  EXPECT_THAT(status(read).message(), HasSubstr("hub_home/none"));
  read.clear_credentials_file();
  read.set_credentials("instance");
  EXPECT_THAT(status(read).message(), HasSubstr("not a way to the Hub"));
}

TEST_F(HubTest, ATokenThatIsReplacedInItsFileIsReadAgain) {
  set("token=hf_first&private=1");
  const std::string file = testing::TempDir() + "hub_token";
  std::ofstream(file) << "hf_first";
  v1::Read read = read_step("/data/a.tar");
  read.set_credentials_file(file);
  const auto source = open(read);
  const ObjectInfo info = source->list(kSet + "/data/a.tar")->at(0);
  std::string bytes(100, 0);
  ASSERT_TRUE(read_into(*source, info, 0, bytes).ok());
  set("token=hf_second");
  std::ofstream(file) << "hf_second";
  expire();
  const Status got = read_into(*source, info, 0, bytes);
  EXPECT_TRUE(got.ok()) << got.message();
  EXPECT_EQ(done("leaks"), 0U);
}

TEST_F(HubTest, ALimitIsWaitedForAsTheHubSays) {
  for (const char* header : {"Retry-After: 1", "RateLimit: \"resolvers\";r=0;t=1"}) {
    const auto source = open(read_step("/data/a.tar"));
    const ObjectInfo info = source->list(kSet + "/data/a.tar")->at(0);
    set(std::string("throttle=1&wait=") + escaped(header));
    std::string bytes(100, 0);
    const std::uint64_t begin = monotonic_ns();
    const Status got = read_into(*source, info, 0, bytes);
    EXPECT_TRUE(got.ok()) << got.message();
    EXPECT_GE(monotonic_ns() - begin, kSecondNs) << header;
    EXPECT_EQ(source->counters().requests_retried, 1U);
  }
  set("throttle=1000&wait=Retry-After:%203");
  v1::Read impatient = read_step("/data/a.tar");
  impatient.set_timeout(kSecondNs);
  const Status limited = status(impatient);
  EXPECT_EQ(limited.code(), Code::kUnavailable);
  EXPECT_THAT(limited.message(), AllOf(HasSubstr("429"), HasSubstr("rate limit")));
}

TEST_F(HubTest, ADataSetThatWasRenamedIsAnErrorWithItsName) {
  v1::Read read = read_step("");
  read.set_url(0, "hf://datasets/photos/old/data/*.tar");
  EXPECT_THAT(status(read).message(), HasSubstr("the data set is now photos/set"));
}

TEST_F(HubTest, NothingIsWrittenAndNoTokenGoesWhereItCouldBeOverheard) {
  EXPECT_EQ(open_source(read_step("/data/a.tar"), Access::kWrite).status().code(),
            Code::kUnimplemented);
  const TestEnvironment environment(
      {{"HF_TOKEN", "hf_secret"}, {"HF_ENDPOINT", "http://elsewhere.example"}});
  v1::Read read = read_step("/data/a.tar");
  read.clear_endpoint();
  EXPECT_THAT(status(read).message(),
              AllOf(HasSubstr("elsewhere.example"), HasSubstr("overheard")));
}

}  // namespace
}  // namespace echoline::source
