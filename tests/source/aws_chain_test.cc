// Profiles that get their credentials by roles, programs and single sign-on, against fakes of AWS's
// services that check requests and signatures.
#include "source/credential_services.h"
#include "source/credentials/aws_credentials.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kBase =
    "[profile base]\naws_access_key_id = KEY-BASE\naws_secret_access_key = base-hush\n";

class AwsChainTest : public CredentialServicesTest {
 protected:
  void SetUp() override {
    CredentialServicesTest::SetUp();
    for (const char* name :
         {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC"})
      environment_.set(name, endpoint_);
    options_.region = "eu-west-1";
  }
  void configure(const std::string& text) const { write(".aws/config", text); }
  Status status_of(const std::string& profile) {
    options_.profile = profile;
    source_.reset();  // else it would be shared
    auto found = aws_credentials(options_);
    if (!found.ok()) return found.status();
    source_ = std::move(found).value();
    return wait_ready(*source_);
  }
  std::string message_of(const std::string& profile) {
    const Status status = status_of(profile);
    EXPECT_EQ(status.code() == Code::kOk, false) << profile;
    EXPECT_THAT(status.message(), Not(HasSubstr("hush")));
    return status.message();
  }
  std::string key_of(const std::string& profile) {
    const Status status = status_of(profile);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? source_->current().access_key : "";
  }

  std::shared_ptr<CredentialSource> source_;
};

TEST_F(AwsChainTest, ARoleIsAssumedWithTheKeysOfItsSource) {
  configure(std::string(kBase) +
            "[profile job]\nrole_arn = arn:aws:iam::1:role/reader\nsource_profile = base\n"
            "external_id = of the partner\nrole_session_name = nightly\nduration_seconds = 1800\n");
  EXPECT_THAT(key_of("job"), StartsWith("KEY-"));
  EXPECT_THAT(source_->current().token, StartsWith("token-hush-"));
  EXPECT_THAT(asked(), AllOf(HasSubstr(R"("RoleArn": "arn:aws:iam::1:role/reader")"),
                             HasSubstr(R"("ExternalId": "of the partner")"),
                             HasSubstr(R"("RoleSessionName": "nightly")"),
                             HasSubstr(R"("DurationSeconds": "1800")")));
  EXPECT_THAT(source_->origin(), AllOf(HasSubstr("for role arn:aws:iam::1:role/reader by profile "
                                                 "base in"),
                                       HasSubstr(".aws/config")));
}

TEST_F(AwsChainTest, RolesFollowOneAnother) {
  configure(std::string(kBase) +
            "[profile a]\nrole_arn = first\nsource_profile = base\n"
            "[profile b]\nrole_arn = second\nsource_profile = a\n"
            "[profile own]\nrole_arn = third\nsource_profile = own\n"
            "aws_access_key_id = KEY-BASE\naws_secret_access_key = base-hush\n");
  key_of("b");
  EXPECT_THAT(asked(), HasSubstr(R"("RoleArn": "second")"));
  EXPECT_THAT(key_of("own"), Not("KEY-BASE"));
  EXPECT_THAT(asked(), HasSubstr(R"("RoleArn": "third")"));
}

TEST_F(AwsChainTest, ARoleMayTakeItsBaseFromTheEnvironmentOrAService) {
  configure(
      "[profile e]\nrole_arn = r\ncredential_source = Environment\n"
      "[profile i]\nrole_arn = r\ncredential_source = Ec2InstanceMetadata\n"
      "[profile c]\nrole_arn = r\ncredential_source = EcsContainer\n"
      "[profile x]\nrole_arn = r\ncredential_source = Elsewhere\n");
  for (const char* profile : {"e", "i", "c"})
    EXPECT_THAT(message_of(profile), HasSubstr("which is not set up")) << profile;
  EXPECT_THAT(message_of("x"), HasSubstr("unknown credential_source"));
  environment_.set("AWS_ACCESS_KEY_ID", "KEY-BASE");
  environment_.set("AWS_SECRET_ACCESS_KEY", "base-hush");
  environment_.set("AWS_EC2_METADATA_DISABLED", "false");
  environment_.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint_);
  environment_.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", endpoint_ + "/container");
  environment_.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-hush");
  for (const char* profile : {"e", "i", "c"})
    EXPECT_THAT(key_of(profile), StartsWith("KEY-")) << profile;
}

TEST_F(AwsChainTest, WrongRolesSayWhatIsWrong) {
  configure(std::string(kBase) +
            "[profile a]\nrole_arn = r\nsource_profile = b\n"
            "[profile b]\nrole_arn = r\nsource_profile = a\n"
            "[profile self]\nrole_arn = r\nsource_profile = self\n"
            "[profile lost]\nrole_arn = r\nsource_profile = nobody\n"
            "[profile none]\nrole_arn = r\n"
            "[profile both]\nrole_arn = r\nsource_profile = base\ncredential_source = Environment\n"
            "[profile long]\nrole_arn = r\nsource_profile = base\nduration_seconds = 1h\n"
            "[profile mfa]\nrole_arn = r\nsource_profile = base\nmfa_serial = m\n"
            "[profile no]\nrole_arn = arn:refused\nsource_profile = base\n"
            "[profile bad]\naws_access_key_id = KEY-BASE\naws_secret_access_key = other-hush\n"
            "[profile sign]\nrole_arn = r\nsource_profile = bad\n");
  EXPECT_THAT(message_of("a"), HasSubstr("profile b is its own source_profile: a -> b -> a"));
  EXPECT_THAT(message_of("self"), HasSubstr("self -> self"));
  EXPECT_THAT(message_of("lost"), HasSubstr("the source_profile nobody, which has no credentials"));
  for (const char* profile : {"none", "both"})
    EXPECT_THAT(message_of(profile), HasSubstr("either source_profile or credential_source"));
  EXPECT_THAT(message_of("long"), HasSubstr("from 900 to 43200"));
  EXPECT_THAT(message_of("mfa"), HasSubstr("mfa_serial"));
  EXPECT_THAT(message_of("no"), AllOf(HasSubstr("403 (AccessDenied)"), HasSubstr("arn:refused")));
  EXPECT_THAT(message_of("sign"), HasSubstr("403 (SignatureDoesNotMatch)"));
}

TEST_F(AwsChainTest, AChainOfRolesHasABound) {
  std::string text = "[profile p0]\naws_access_key_id = KEY-BASE\naws_secret_access_key = x\n";
  for (int i = 1; i <= 12; ++i)
    text += "[profile p" + std::to_string(i) + "]\nrole_arn = r\nsource_profile = p" +
            std::to_string(i - 1) + "\n";
  configure(text);
  EXPECT_THAT(message_of("p12"), HasSubstr("too many roles in a row: p12 -> p11"));
}

TEST_F(AwsChainTest, AProgramGivesCredentialsAndIsNotRunByAShell) {
  const std::string tool =
      program("key tool",
              "printf '{\"Version\": 1, \"AccessKeyId\": \"%s\", "
              "\"SecretAccessKey\": \"x-hush\", \"SessionToken\": \"%s\"}' \"$1\" \"$#\"\n");
  configure("[profile tool]\ncredential_process = \"" + tool + "\" 'a $HOME' \"b \\\"c\" d\\ e\n");
  EXPECT_EQ(key_of("tool"), "a $HOME");
  EXPECT_EQ(source_->current().token, "3");
  EXPECT_EQ(source_->origin(), "the credential_process of profile tool");
}

TEST_F(AwsChainTest, AFileThatAReadStepNamesRunsNoProgram) {
  options_.file = write("mine", "[tool]\ncredential_process = touch " + home_ + "/ran\n");
  EXPECT_THAT(message_of("tool"), HasSubstr("which must not name programs"));
  EXPECT_FALSE(std::filesystem::exists(home_ + "/ran"));
}

TEST_F(AwsChainTest, KeysOfAProgramThatEndAreRenewed) {
  const std::string tool = program(
      "tool", "echo x >> " + home_ +
                  "/runs\nprintf '{\"Version\": 1, \"AccessKeyId\": \"K\", \"SecretAccessKey\": "
                  "\"S\", \"Expiration\": \"2100-01-01T00:00:00Z\"}'\n");
  configure("[profile tool]\ncredential_process = " + tool + "\n");
  EXPECT_EQ(key_of("tool"), "K");
  const std::time_t end = source_->current().expires;
  EXPECT_EQ(end, 4102444800);
  EXPECT_TRUE(source_->ready(end - 100).status.ok());
  while (source_->fetched_count() < 2) EXPECT_TRUE(source_->ready(end - 100).status.ok());
  EXPECT_EQ(read(home_ + "/runs"), "x\nx\n");
}

TEST_F(AwsChainTest, ProgramsThatFailSayHowAndTellNoSecret) {
  configure(
      "[profile fail]\ncredential_process = sh -c 'echo hush >&2; echo hush; exit 3'\n"
      "[profile gone]\ncredential_process = /nonexistent/tool hush\n"
      "[profile text]\ncredential_process = echo hush\n"
      "[profile quote]\ncredential_process = echo 'hush\n");
  EXPECT_THAT(message_of("fail"), AllOf(HasSubstr("the credential_process of profile fail"),
                                        HasSubstr("exit code 3; run it by hand")));
  EXPECT_THAT(message_of("gone"), HasSubstr("/nonexistent/tool cannot be started: No such file"));
  EXPECT_THAT(message_of("text"), HasSubstr("not JSON"));
  EXPECT_THAT(message_of("quote"), HasSubstr("ends within quotes"));
}

// sha1 of "corp", as Amazon's tools name the file.
constexpr const char* kSessionFile = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";

class SignOnTest : public AwsChainTest {
 protected:
  void SetUp() override {
    AwsChainTest::SetUp();
    configure(
        "[sso-session corp]\nsso_region = eu-north-1\n"
        "sso_start_url = https://corp.example/start\n"
        "[profile sso]\nsso_session = corp\nsso_account_id = 12\nsso_role_name = reader\n"
        "[profile old]\nsso_region = eu-north-1\nsso_start_url = corp\n"
        "sso_account_id = 13\nsso_role_name = reader\n"
        "[profile no]\nsso_session = nobody\nsso_account_id = 12\nsso_role_name = reader\n"
        "[profile part]\nsso_session = corp\nsso_account_id = 12\n");
  }
  void keep_token(const std::string& token, const std::string& end, bool renewable) const {
    write(kSessionFile, R"({"startUrl": "https://corp.example/start", "accessToken": ")" + token +
                            R"(", "expiresAt": ")" + end + "\"" +
                            (renewable ? R"(, "clientId": "client", "clientSecret": "client-hush",
                  "refreshToken": "sso-refresh-hush", "registrationExpiresAt":
                  "2100-01-01T00:00:00Z", "kept": 7})"
                                       : "}"));
  }
};

TEST_F(SignOnTest, TheTokenOfALoginGetsTheKeysOfARole) {
  keep_token("sso-hush", "2100-01-01T00:00:00Z", false);
  EXPECT_THAT(key_of("sso"), StartsWith("KEY-"));
  EXPECT_THAT(asked(),
              AllOf(HasSubstr(R"("role_name": "reader")"), HasSubstr(R"("account_id": "12")")));
  EXPECT_GT(source_->current().expires, std::time(nullptr) + 3000);
  EXPECT_THAT(key_of("old"), StartsWith("KEY-"));
  EXPECT_THAT(asked(), HasSubstr(R"("account_id": "13")"));
}

TEST_F(SignOnTest, ATokenThatEndsIsRenewedAndKeptForOtherTools) {
  keep_token("old-hush", "2020-01-01T00:00:00Z", true);
  EXPECT_THAT(key_of("sso"), StartsWith("KEY-"));
  const std::string kept = read(home_ + "/" + kSessionFile);
  EXPECT_THAT(kept, AllOf(HasSubstr(R"("accessToken":"sso-hush")"),
                          HasSubstr(R"("refreshToken":"sso-refresh-hush-next")"),
                          HasSubstr(R"("kept":7)"), Not(HasSubstr("2020"))));
  EXPECT_EQ(std::filesystem::status(home_ + "/" + kSessionFile).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  // The service accepts a refresh token once.
  keep_token("old-hush", "2020-01-01T00:00:00Z", true);
  EXPECT_THAT(message_of("sso"), AllOf(HasSubstr("400"), HasSubstr("aws sso login")));
}

TEST_F(SignOnTest, WhatNeedsAPersonSaysSo) {
  EXPECT_THAT(message_of("sso"), AllOf(HasSubstr("No such file"), HasSubstr("aws sso login")));
  keep_token("sso-hush", "2020-01-01T00:00:00UTC", false);
  EXPECT_THAT(message_of("sso"), AllOf(HasSubstr("has expired"), HasSubstr("aws sso login")));
  keep_token("other-hush", "2100-01-01T00:00:00Z", false);
  EXPECT_THAT(message_of("sso"), AllOf(HasSubstr("401"), HasSubstr("aws sso login")));
  write(kSessionFile, "{}");
  EXPECT_THAT(message_of("sso"), HasSubstr("has no token"));
  EXPECT_THAT(message_of("no"), HasSubstr("has no [sso-session nobody]"));
  EXPECT_THAT(message_of("part"), HasSubstr("has no sso_role_name"));
}

TEST_F(SignOnTest, OfSeveralWaysInAProfileTheOrderIsThatOfAws) {
  const std::string tool =
      "credential_process = echo '{\"Version\": 1, \"AccessKeyId\": \"TOOL\", "
      "\"SecretAccessKey\": \"s\"}'\n";
  const std::string keys = "aws_access_key_id = CONFIG\naws_secret_access_key = s\n";
  configure("[profile p]\n" + keys);
  EXPECT_EQ(key_of("p"), "CONFIG");
  configure("[profile p]\n" + keys + tool);
  EXPECT_EQ(key_of("p"), "TOOL");
  write(".aws/credentials", "[p]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
  EXPECT_EQ(key_of("p"), "FILE");
  keep_token("sso-hush", "2100-01-01T00:00:00Z", false);
  const std::string sso =
      "sso_session = corp\nsso_account_id = 12\nsso_role_name = reader\n"
      "[sso-session corp]\nsso_region = r\nsso_start_url = u\n";
  configure("[profile p]\n" + keys + tool + sso);
  EXPECT_THAT(key_of("p"), StartsWith("KEY-"));
  configure("[profile p]\nrole_arn = last\nsource_profile = p\n" + keys + tool + sso);
  EXPECT_THAT(message_of("p"), HasSubstr("403 (InvalidClientTokenId)"));
}

TEST_F(AwsChainTest, AProfileIsReadAgainWhenAStoreRefusesItsKey) {
  const auto keys = [this](const std::string& key) {
    write(".aws/credentials", "[p]\naws_access_key_id = " + key + "\naws_secret_access_key = s\n");
  };
  keys("OLD");
  EXPECT_EQ(key_of("p"), "OLD");
  source_->note_accepted();
  keys("NEW");
  EXPECT_TRUE(source_->ready(std::time(nullptr)).status.ok());
  EXPECT_EQ(source_->current().access_key, "OLD");
  EXPECT_TRUE(source_->reject(Status(Code::kPermissionDenied, "no")).retry);
  EXPECT_TRUE(source_->ready(std::time(nullptr)).status.ok());
  EXPECT_EQ(source_->current().access_key, "NEW");
}

}  // namespace
}  // namespace echoline::source
