// Google's Application Default Credentials, against a fake of its services
// (tests/servers/credential_server.py) that verifies requests.
#include "source/credential_services.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GoogleCredentialsTest : public GoogleServicesTest {
 protected:
  // The key file with one part replaced.
  std::string changed_key(const std::string& from, const std::string& to) {
    std::string text = read(server_->fact("key_file"));
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    return write("changed.json", text);
  }
};

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
  environment_.set("CLOUDSDK_CONFIG", home_);
  std::filesystem::copy(server_->fact("user_file"),
                        home_ + "/application_default_credentials.json");
  EXPECT_TRUE(status().ok()) << status().message();
  environment_.set("CLOUDSDK_CONFIG", "");
  std::filesystem::create_directories(home_ + "/.config/gcloud");
  std::filesystem::rename(home_ + "/application_default_credentials.json",
                          home_ + "/.config/gcloud/application_default_credentials.json");
  EXPECT_TRUE(status().ok()) << status().message();
}

TEST_F(GoogleCredentialsTest, WithoutAHomeFolderNoFileOfTheWorkingFolderIsTaken) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(home_);
  std::filesystem::copy(server_->fact("user_file"), "application_default_credentials.json");
  environment_.set("HOME", "");
  EXPECT_THAT(status().message(), HasSubstr("the metadata server at"));
  std::filesystem::current_path(before);
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
  write("changed.json", "hush");
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
