// Google's external accounts and impersonation, against a fake of its services that checks
// requests.
#include "source/credential_services.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GoogleExternalTest : public GoogleServicesTest {
 protected:
  // A key file with this credential_source and further members.
  void configure(const std::string& source, const std::string& more = "") {
    options_.file = write("external.json", R"({"type": "external_account", "audience":
          "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
          "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": ")" +
                                               endpoint_ + R"(/v1/token", "credential_source": )" +
                                               source + more + "}");
  }
  void expect_token(const std::string& start) {
    const Status ready = status();
    EXPECT_TRUE(ready.ok()) << ready.message();
    EXPECT_THAT(token_, StartsWith(start));
  }
  std::string message() {
    const Status failed = status();
    EXPECT_FALSE(failed.ok());
    EXPECT_THAT(failed.message(), Not(HasSubstr("hush")));
    return failed.message();
  }
};

TEST_F(GoogleExternalTest, ATokenInAFileIsExchanged) {
  const std::string text = write("token", "subject-hush\n");
  configure(R"({"file": ")" + text + R"("})");
  expect_token("ya29.test-");
  EXPECT_THAT(asked(), HasSubstr("auth/devstorage.read_only"));
  const std::string json = write("token.json", R"({"id": {"x": 1}, "access": "subject-hush"})");
  configure(R"({"file": ")" + json +
            R"(", "format": {"type": "json", "subject_token_field_name": "access"}})");
  expect_token("ya29.test-");
  options_.access = Access::kWrite;
  expect_token("ya29.test-");
  EXPECT_THAT(token_, HasSubstr("-write"));
}

TEST_F(GoogleExternalTest, ATokenAtAnAddressIsExchanged) {
  configure(R"({"url": ")" + endpoint_ +
                R"(/subject", "headers": {"X-Test": "yes"},
                "format": {"type": "json", "subject_token_field_name": "token"}})",
            R"(, "client_id": "client", "client_secret": "client-hush")");
  expect_token("ya29.test-");
  configure(R"({"url": ")" + endpoint_ + R"(/subject"})");
  EXPECT_THAT(message(), HasSubstr("it answered 403"));
  configure(R"({"url": "http://elsewhere.example/subject"})");
  EXPECT_THAT(message(), HasSubstr("overheard"));
  configure(R"({"url": ")" + endpoint_ + R"(/subject", "headers": {"X-Test": "yes\r\nHost: x"}})");
  EXPECT_THAT(message(), HasSubstr("a line break in the headers"));
}

TEST_F(GoogleExternalTest, AServiceAccountIsImpersonated) {
  const std::string text = write("token", "subject-hush");
  configure(R"({"file": ")" + text + R"("})", R"(, "service_account_impersonation_url": ")" +
                                                  endpoint_ +
                                                  R"(/impersonate/reader@x:generateAccessToken",
                "service_account_impersonation": {"token_lifetime_seconds": 600})");
  expect_token("ya29.as-account-");
  EXPECT_THAT(asked(),
              AllOf(HasSubstr(R"("lifetime": "600s")"), HasSubstr("devstorage.read_only")));
  options_.file = write("as.json", R"({"type": "impersonated_service_account", "delegates": ["d"],
      "service_account_impersonation_url": ")" +
                                       endpoint_ +
                                       R"(/impersonate/reader@x:generateAccessToken",
      "source_credentials": )" + read(server_->fact("user_file")) +
                                       "}");
  expect_token("ya29.as-account-");
  EXPECT_THAT(asked(), HasSubstr(R"("delegates": ["d"])"));
}

TEST_F(GoogleExternalTest, AProgramIsRunOnlyIfTheEnvironmentAllowsIt) {
  const std::string tool =
      program("tool",
              "[ \"$GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE\" = 0 ] || exit 1\n"
              "printf '{\"version\": 1, \"success\": %s, \"token_type\": \"%s\", "
              "\"id_token\": \"subject-hush\"}' $1 $GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE\n");
  configure(R"({"executable": {"command": ")" + tool + R"( true"}})");
  EXPECT_THAT(message(), HasSubstr("instead of read.credentials_file"));
  environment_.set("GOOGLE_APPLICATION_CREDENTIALS", std::exchange(options_.file, ""));
  EXPECT_THAT(message(), HasSubstr("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"));
  environment_.set("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1");
  expect_token("ya29.test-");
  configure(R"({"executable": {"command": ")" + tool + R"( false"}})");
  options_.file.clear();
  EXPECT_THAT(message(), HasSubstr("reports a failure"));
}

TEST_F(GoogleExternalTest, WhatIsWrongIsNamed) {
  const std::string text = write("token", "wrong-hush");
  configure(R"({"file": ")" + text + R"("})");
  EXPECT_THAT(message(), AllOf(HasSubstr("external.json"), HasSubstr("400 (invalid_grant)")));
  configure(R"({"file": "/nonexistent/token"})");
  EXPECT_THAT(message(), HasSubstr("/nonexistent/token: No such file"));
  configure(R"({"environment_id": "aws1", "url": "http://169.254.169.254/"})");
  EXPECT_THAT(message(), HasSubstr("of AWS (environment_id), which echoline does not know"));
  configure(R"({"certificate": {}})");
  EXPECT_THAT(message(), HasSubstr("a certificate"));
  configure("7");
  EXPECT_THAT(message(), HasSubstr("of another kind"));
  configure(R"({"file": "x", "format": {"type": "json"}})");
  EXPECT_THAT(message(), HasSubstr("subject_token_field_name"));
  configure(R"({"file": "x"})", R"(, "token_url": "http://elsewhere.example/token")");
  EXPECT_THAT(message(), HasSubstr("token_url could be overheard"));
}

}  // namespace
}  // namespace echoline::source
