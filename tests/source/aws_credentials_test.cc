// AWS's credential chain, against a fake of its services (tests/servers/credential_server.py).
#include "source/credentials/aws_credentials.h"

#include <gmock/gmock.h>

#include <fstream>

#include "servers/server_process.h"
#include "source/credential_wait.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AwsCredentialsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("credential_server.py");
    char name[] = "/tmp/echoline-aws-XXXXXX";
    folder_ = ::mkdtemp(name);
    std::ofstream(file()) << "[default]\naws_access_key_id=FILE\naws_secret_access_key=hush\n"
                             "[half]\naws_access_key_id=FILE\n"
                             "[web]\nrole_arn=arn:of:file\nweb_identity_token_file="
                          << server_->fact("token_file")
                          << "\nregion=eu-north-1\n[empty]\nregion=eu-north-1\n";
  }
  static void TearDownTestSuite() {
    server_.reset();
    std::remove(file().c_str());
    ::rmdir(folder_.c_str());
  }
  void SetUp() override {
    if (server_->missing()) GTEST_SKIP() << "no openssl for the server's key";
    ASSERT_TRUE(server_->ready()) << "tests/servers/credential_server.py did not start";
    endpoint_ = server_->fact("endpoint");
    options_.region = "us-east-1";
  }

  static std::string file() { return folder_ + "/credentials"; }
  void set_container() {
    environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", endpoint_ + "/container");
    environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-hush");
  }
  void set_web_identity() {
    environment_.set("AWS_WEB_IDENTITY_TOKEN_FILE", server_->fact("token_file"));
    environment_.set("AWS_ROLE_ARN", "arn:of:environment");
    environment_.set("AWS_ENDPOINT_URL_STS", endpoint_);
  }
  void set_instance() {
    environment_.set("AWS_EC2_METADATA_DISABLED", "false");
    environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint_);
  }
  static Status status(const CredentialOptions& options) {
    auto source = aws_credentials(options);
    return source.ok() ? wait_ready(**source) : source.status();
  }
  Status status() const { return status(options_); }
  std::string key() const {
    const auto source = aws_credentials(options_);
    EXPECT_TRUE(source.ok()) << source.status().message();
    if (!source.ok()) return "";
    const Status ready = wait_ready(**source);
    EXPECT_TRUE(ready.ok()) << ready.message();
    return (*source)->current().access_key;
  }
  int issued() const { return std::stoi(web_ask("GET", endpoint_ + "/count").body); }

  static std::unique_ptr<ServerProcess> server_;
  static std::string folder_;
  TestEnvironment environment_;
  std::string endpoint_;
  CredentialOptions options_;
};

std::unique_ptr<ServerProcess> AwsCredentialsTest::server_;
std::string AwsCredentialsTest::folder_;

TEST_F(AwsCredentialsTest, TheFirstThatIsSetUpIsTakenInTheOrderOfAws) {
  set_instance();
  EXPECT_THAT(key(), HasSubstr("KEY-"));
  int before = issued();
  set_container();
  key();
  EXPECT_EQ(issued(), before + 1);
  set_web_identity();
  before = issued();
  key();
  EXPECT_EQ(issued(), before + 1);
  environment_.set("AWS_SHARED_CREDENTIALS_FILE", file());
  EXPECT_EQ(key(), "FILE");
  environment_.set("AWS_ACCESS_KEY_ID", "ENVIRONMENT");
  environment_.set("AWS_SECRET_ACCESS_KEY", "hush");
  EXPECT_EQ(key(), "ENVIRONMENT");
}

TEST_F(AwsCredentialsTest, AProfileThatIsNamedWinsOverTheEnvironment) {
  environment_.set("AWS_ACCESS_KEY_ID", "ENVIRONMENT");
  environment_.set("AWS_SECRET_ACCESS_KEY", "hush");
  options_.file = file();
  EXPECT_EQ(key(), "FILE");
  options_.profile = "nobody";
  EXPECT_THAT(status().message(), AllOf(HasSubstr("no profile nobody"), HasSubstr(file())));
  options_.profile = "half";
  EXPECT_THAT(status().message(), HasSubstr("aws_secret_access_key"));
}

TEST_F(AwsCredentialsTest, ErrorsNameThePlaceThatTheKeyIsFrom) {
  const auto origin = [this] {
    const auto source = aws_credentials(options_);
    return source.ok() && wait_ready(**source).ok() ? (*source)->origin() : "";
  };
  environment_.set("AWS_ACCESS_KEY_ID", "ENVIRONMENT");
  environment_.set("AWS_SECRET_ACCESS_KEY", "hush");
  EXPECT_THAT(origin(), HasSubstr("environment (AWS_ACCESS_KEY_ID"));
  options_.file = file();
  EXPECT_EQ(origin(), "profile default in " + file());
  environment_.set("AWS_CONFIG_FILE", file());
  options_.file = "/dev/null";
  EXPECT_EQ(origin(), "profile default in " + file());
}

TEST_F(AwsCredentialsTest, AFileThatIsNotThereIsToldFromOneWithoutTheProfile) {
  options_.profile = "photos";
  environment_.set("AWS_SHARED_CREDENTIALS_FILE", "~/credentials");
  EXPECT_THAT(status().message(),
              AllOf(HasSubstr("no profile photos in ~/credentials (no such file; write the home"),
                    Not(HasSubstr("set AWS_ACCESS_KEY_ID"))));
  options_.file = folder_ + "/typo";
  EXPECT_EQ(status().message(), "credentials_file " + folder_ + "/typo (no such file)");
  options_.file = file();
  options_.profile = "empty";
  EXPECT_THAT(status().message(), HasSubstr("profile empty holds no credentials; put aws_access"));
}

TEST_F(AwsCredentialsTest, EachWayCanBeAskedForAlone) {
  for (const char* from : {"environment", "file", "web_identity", "container", "instance"}) {
    options_.from = from;
    EXPECT_EQ(status().code(), Code::kPermissionDenied) << from;
    EXPECT_THAT(status().message(), HasSubstr(from));
  }
  environment_.set("AWS_SHARED_CREDENTIALS_FILE", file());
  set_container();
  set_web_identity();
  set_instance();
  options_.from = "file";
  EXPECT_EQ(key(), "FILE");
  for (const char* from : {"web_identity", "container", "instance"}) {
    options_.from = from;
    EXPECT_THAT(key(), HasSubstr("KEY-")) << from;
  }
  options_.from = "anonymous";
  EXPECT_TRUE((*aws_credentials(options_))->is_anonymous());
}

TEST_F(AwsCredentialsTest, AProfileMayNameAWebIdentityAndARegion) {
  environment_.set("AWS_ENDPOINT_URL_STS", endpoint_);
  options_.file = file();
  options_.profile = "web";
  EXPECT_THAT(key(), HasSubstr("KEY-"));
  EXPECT_EQ(aws_profile_setting(options_, "region"), "eu-north-1");
}

TEST_F(AwsCredentialsTest, StreamsOfOneHostShareOneSet) {
  set_instance();
  const int before = issued();
  const auto first = *aws_credentials(options_);
  const auto second = *aws_credentials(options_);
  EXPECT_EQ(first, second);
  EXPECT_TRUE(wait_ready(*first).ok());
  EXPECT_TRUE(wait_ready(*second).ok());
  EXPECT_EQ(issued(), before + 1);
}

TEST_F(AwsCredentialsTest, ABusyServiceIsAskedAgain) {
  set_instance();
  web_ask("GET", endpoint_ + "/fail?count=2");
  EXPECT_THAT(key(), HasSubstr("KEY-"));
}

TEST_F(AwsCredentialsTest, ARefusalIsFinalNamesTheServiceAndTellsNoSecret) {
  set_web_identity();
  const std::string wrong = folder_ + "/wrong";
  std::ofstream(wrong) << "wrong-hush";
  environment_.set("AWS_WEB_IDENTITY_TOKEN_FILE", wrong);
  EXPECT_THAT(status().message(), AllOf(HasSubstr("400 (InvalidIdentityToken)"),
                                        HasSubstr("arn:of:environment"), Not(HasSubstr("hush"))));
  std::remove(wrong.c_str());
  EXPECT_THAT(status().message(), HasSubstr("No such file"));
  options_.from = "container";
  set_container();
  environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "wrong-hush");
  EXPECT_THAT(status().message(), AllOf(HasSubstr("401 (Unauthorized)"), Not(HasSubstr("hush"))));
}

TEST_F(AwsCredentialsTest, AServiceThatIsNotThereFailsSoonAndSaysWhatElseToSet) {
  environment_.set("AWS_EC2_METADATA_DISABLED", "false");
  environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
  const std::uint64_t start = monotonic_ns();
  EXPECT_THAT(status().message(),
              AllOf(HasSubstr("http://127.0.0.1:1"), HasSubstr("set AWS_ACCESS_KEY_ID")));
  EXPECT_LT(monotonic_ns() - start, 5'000'000'000U);
}

TEST_F(AwsCredentialsTest, NothingSecretGoesOverTheNetworkInClear) {
  set_container();
  environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://elsewhere.example/container");
  EXPECT_THAT(status().message(), HasSubstr("neither https nor on this machine"));
  set_web_identity();
  environment_.set("AWS_ENDPOINT_URL_STS", "http://elsewhere.example");
  EXPECT_THAT(status().message(), HasSubstr("overheard"));
}

}  // namespace
}  // namespace echoline::source
