// Valid and invalid answers of credential services.
#include "source/credentials/credential_answer.h"

#include <gmock/gmock.h>

namespace echoline::source {
namespace {

TEST(CredentialAnswer, TimesAreUnderstoodAsServicesWriteThem) {
  EXPECT_EQ(parse_utc("2013-05-24T00:00:00Z"), 1369353600);
  EXPECT_EQ(parse_utc("2013-05-24T00:00:00.123456Z"), 1369353600);
  EXPECT_EQ(parse_utc("2013-05-24T00:00:00+00:00"), 1369353600);
  EXPECT_EQ(parse_utc("2013-05-24T00:00:00UTC"), 1369353600);
  EXPECT_EQ(parse_utc("2013-05-24T02:00:00+02:00"), 1369353600);
  EXPECT_EQ(parse_utc("2013-05-23T22:30:00-0130"), 1369353600);
  for (const char* text :
       {"", "Z", "2013-05-24", "2013-05-24T00:00:00", "2013-05-24T00:00:00+2:00",
        "2013-05-24T00:00:00+0x:00", "2013-05-24T00:00:00Zx", "2013-13-24T00:00:00Z", "tomorrow"})
    EXPECT_FALSE(parse_utc(text)) << text;
}

TEST(CredentialAnswer, KeysOfInstancesAndContainersAreTaken) {
  const auto keys = parse_aws_json(R"({"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c",
                                       "Expiration": "2013-05-24T00:00:00Z", "Code": "Success"})");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->access_key, "a");
  EXPECT_EQ(keys->secret_key, "b");
  EXPECT_EQ(keys->token, "c");
  EXPECT_EQ(keys->expires, 1369353600);
}

TEST(CredentialAnswer, ARoleThatWasAssumedIsTaken) {
  const auto keys = parse_aws_sts(
      "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
      "<AccessKeyId>a</AccessKeyId><SecretAccessKey>b&amp;</SecretAccessKey>"
      "<SessionToken>c</SessionToken><Expiration>2013-05-24T00:00:00Z</Expiration></Credentials>"
      "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
      "AssumeRoleWithWebIdentity");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->secret_key, "b&");
  EXPECT_EQ(keys->expires, 1369353600);
}

TEST(CredentialAnswer, OutputOfProgramsHasAVersion) {
  const auto keys = parse_aws_process(
      R"({"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c",
          "Expiration": "2013-05-24T01:00:00+01:00"})");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->token, "c");
  EXPECT_EQ(keys->expires, 1369353600);
  EXPECT_EQ(
      parse_aws_process(R"({"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b"})")->expires,
      0);
  for (const char* output : {"", "hush", R"({"AccessKeyId": "hush", "SecretAccessKey": "b"})",
                             R"({"Version": 2, "AccessKeyId": "hush", "SecretAccessKey": "b"})",
                             R"({"Version": 1, "AccessKeyId": "hush"})"})
    EXPECT_THAT(parse_aws_process(output).status().message(),
                testing::AllOf(testing::Not(""), testing::Not(testing::HasSubstr("hush"))));
}

TEST(CredentialAnswer, RolesOfSingleSignOnEndAtAMillisecond) {
  const auto keys = parse_aws_sso(
      R"({"roleCredentials": {"accessKeyId": "a", "secretAccessKey": "b", "sessionToken": "c",
                              "expiration": 1369353600999}})");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->token, "c");
  EXPECT_EQ(keys->expires, 1369353600);
}

TEST(CredentialAnswer, TokensEndWhenTheySay) {
  const auto token = parse_oauth(R"({"access_token": "t", "expires_in": 3599})", 1000);
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->token, "t");
  EXPECT_EQ(token->expires, 4599);
}

TEST(CredentialAnswer, WhatIsNotUnderstoodMayPassAndIsNotRepeated) {
  for (const char* body :
       {"", "null", "[]", "hush", R"({"AccessKeyId": "hush"})", R"({"access_token": "hush"})",
        R"({"access_token": "hush", "expires_in": -1})", R"({"access_token": 5, "expires_in": 5})",
        R"({"access_token": "hush", "expires_in": 1e300})",
        R"({"AccessKeyId": "a", "SecretAccessKey": "hush", "Expiration": "never"})",
        "<a>hush</a>"}) {
    for (const Status& status :
         {parse_aws_json(body).status(), parse_aws_sts(body, "AssumeRole").status(),
          parse_aws_sso(body).status(), parse_google_impersonation(body).status(),
          parse_oauth(body, 0).status()}) {
      EXPECT_EQ(status.code(), Code::kUnavailable) << body;
      EXPECT_THAT(status.message(), testing::Not(testing::HasSubstr("hush")));
    }
  }
}

TEST(CredentialAnswer, RefusalsSayWhichMayPass) {
  EXPECT_EQ(credential_refusal(503, "").code(), Code::kUnavailable);
  EXPECT_EQ(credential_refusal(429, "").code(), Code::kUnavailable);
  const Status denied = credential_refusal(400, "invalid_grant\n");
  EXPECT_EQ(denied.code(), Code::kPermissionDenied);
  EXPECT_EQ(denied.message(), "it answered 400 (invalid_grant )");
}

}  // namespace
}  // namespace echoline::source
