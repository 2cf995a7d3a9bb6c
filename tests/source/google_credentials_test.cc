// Google's Application Default Credentials, against a fake of its services
// (tests/servers/credential_server.py) that verifies requests.
#include "source/credentials/google_credentials.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "servers/server_process.h"
#include "source/credential_wait.h"
#include "source/test_environment.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GoogleCredentialsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("credential_server.py");
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_->missing()) GTEST_SKIP() << "no openssl for the server's key";
    ASSERT_TRUE(server_->ready()) << "tests/servers/credential_server.py did not start";
    char name[] = "/tmp/echoline-google-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status status() {
    auto source = google_credentials(options_);
    if (!source.ok()) return source.status();
    Status ready = wait_ready(**source);
    token_ = (*source)->current().token;
    return ready;
  }
  // The key file with one part replaced.
  std::string changed_key(const std::string& from, const std::string& to) {
    std::ifstream in(server_->fact("key_file"));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    const std::string path = folder_ + "/changed.json";
    std::ofstream(path) << text;
    return path;
  }

  static std::unique_ptr<ServerProcess> server_;
  TestEnvironment environment_;
  CredentialOptions options_;
  std::string folder_;
  std::string token_;
};

std::unique_ptr<ServerProcess> GoogleCredentialsTest::server_;

TEST_F(GoogleCredentialsTest, AServiceAccountProvesItselfByItsKeyFile) {
  environment_.set("GOOGLE_APPLICATION_CREDENTIALS", server_->fact("key_file"));
  ASSERT_TRUE(status().ok()) << status().message();
  EXPECT_THAT(token_, StartsWith("ya29.test-"));
}

TEST_F(GoogleCredentialsTest, TheSettingWinsOverTheVariable) {
  environment_.set("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/key.json");
  EXPECT_THAT(status().message(), HasSubstr("/nonexistent/key.json"));
  options_.file = server_->fact("key_file");
  EXPECT_TRUE(status().ok());
}

TEST_F(GoogleCredentialsTest, APersonWhoHasLoggedInIsKnownByTheFileOfGcloud) {
  environment_.set("CLOUDSDK_CONFIG", folder_);
  std::filesystem::copy(server_->fact("user_file"),
                        folder_ + "/application_default_credentials.json");
  EXPECT_TRUE(status().ok()) << status().message();
  environment_.set("CLOUDSDK_CONFIG", "");
  std::filesystem::create_directories(folder_ + "/.config/gcloud");
  std::filesystem::rename(folder_ + "/application_default_credentials.json",
                          folder_ + "/.config/gcloud/application_default_credentials.json");
  environment_.set("HOME", folder_);
  EXPECT_TRUE(status().ok()) << status().message();
}

TEST_F(GoogleCredentialsTest, LastTheMetadataServerIsAsked) {
  EXPECT_THAT(status().message(), AllOf(HasSubstr("the metadata server at 127.0.0.1:1"),
                                        HasSubstr("set GOOGLE_APPLICATION_CREDENTIALS")));
  environment_.set("GCE_METADATA_HOST", server_->fact("host"));
  EXPECT_TRUE(status().ok()) << status().message();
  options_.from = "instance";
  EXPECT_TRUE(status().ok()) << status().message();
}

TEST_F(GoogleCredentialsTest, KeyFilesThatDoNotWorkSayWhyAndTellNoSecret) {
  options_.file = changed_key("key-number-1", "key-number-2");
  EXPECT_THAT(status().message(), AllOf(HasSubstr("changed.json"), HasSubstr("invalid_grant"),
                                        Not(HasSubstr("PRIVATE"))));
  options_.file = changed_key("service_account", "gdch_service_account");
  EXPECT_THAT(status().message(), HasSubstr("of type \"gdch_service_account\""));
  options_.file = changed_key("http://127", "http://elsewhere.example/127");
  EXPECT_THAT(status().message(), HasSubstr("overheard"));
  options_.file = changed_key("BEGIN PRIVATE KEY", "BEGIN NOTHING");
  EXPECT_THAT(status().message(), HasSubstr("no RSA key"));
  std::ofstream(folder_ + "/changed.json") << "hush";
  EXPECT_THAT(status().message(), AllOf(HasSubstr("no JSON key file"), Not(HasSubstr("hush"))));
}

TEST_F(GoogleCredentialsTest, WaysOfOthersAndWaysThatAreNotSetUpAreRefused) {
  for (const char* from : {"web_identity", "container", "environment", "file"}) {
    options_.from = from;
    EXPECT_FALSE(status().ok()) << from;
    EXPECT_THAT(status().message(), HasSubstr("GOOGLE_APPLICATION_CREDENTIALS"));
  }
  options_.from = "anonymous";
  EXPECT_TRUE(status().ok());
  EXPECT_EQ(token_, "");
}

}  // namespace
}  // namespace echoline::source
