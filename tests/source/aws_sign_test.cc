// Signatures against the examples that AWS publishes for the S3 Authorization header.
#include "source/credentials/aws_sign.h"

#include <gmock/gmock.h>

namespace echoline::source {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::time_t kPublishedTime = 1369353600;  // 2013-05-24T00:00:00Z

const Credentials& published_key() {
  static const Credentials credentials{"AKIAIOSFODNN7EXAMPLE",
                                       "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  return credentials;
}

SignRequest example() {
  SignRequest request;
  request.host = "examplebucket.s3.amazonaws.com";
  request.path = "/";
  request.payload_sha256 = kEmptySha256;
  request.region = "us-east-1";
  return request;
}

std::string header(const NamedValues& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return "";
}

std::string authorization(const SignRequest& request,
                          const Credentials& credentials = published_key()) {
  return header(signed_headers(request, credentials, kPublishedTime), "Authorization");
}

TEST(S3Sign, ARangedGetIsSignedAsPublished) {
  SignRequest request = example();
  request.path = "/test.txt";
  request.headers = {{"range", "bytes=0-9"}};
  EXPECT_EQ(authorization(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(S3Sign, APutWithAnOddNameIsSignedAsPublished) {
  SignRequest request = example();
  request.method = "PUT";
  request.path = "/test$file.text";
  request.headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  request.payload_sha256 = sha256_hex("Welcome to Amazon S3.");
  EXPECT_THAT(authorization(request),
              EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(S3Sign, AQueryNameWithoutAValueIsSignedAsPublished) {
  SignRequest request = example();
  request.query = {{"lifecycle", ""}};
  EXPECT_EQ(escaped_target(request.path, request.query), "/?lifecycle=");
  EXPECT_THAT(authorization(request),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(S3Sign, AListingIsSignedAsPublishedWhateverTheOrderOfItsWords) {
  SignRequest request = example();
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(authorization(request),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3Sign, NamesAreEscapedStrictly) {
  EXPECT_EQ(uri_escape("a b+c/ü~*", true), "a%20b%2Bc/%C3%BC~%2A");
  EXPECT_EQ(uri_escape("a/b=c", false), "a%2Fb%3Dc");
  EXPECT_EQ(uri_escape(std::string_view("\0\xff", 2), false), "%00%FF");
  EXPECT_EQ(escaped_target("/k/%41", {{"b", "2"}, {"a", "x/y"}}), "/k/%2541?a=x%2Fy&b=2");
}

TEST(S3Sign, ASessionTokenIsSentAndSigned) {
  Credentials credentials = published_key();
  credentials.token = "token/+=";
  const NamedValues headers = signed_headers(example(), credentials, kPublishedTime);
  EXPECT_EQ(header(headers, "x-amz-security-token"), "token/+=");
  EXPECT_THAT(header(headers, "Authorization"), HasSubstr("x-amz-date;x-amz-security-token,"));
}

TEST(S3Sign, AnonymousRequestsCarryNoProof) {
  const NamedValues headers = signed_headers(example(), {}, kPublishedTime);
  EXPECT_EQ(headers, (NamedValues{{"host", "examplebucket.s3.amazonaws.com"}}));
}

TEST(S3Sign, NoHeaderTellsTheSecret) {
  for (const auto& [name, value] : signed_headers(example(), published_key(), kPublishedTime))
    EXPECT_EQ(value.find("wJalr"), std::string::npos) << name;
}

}  // namespace
}  // namespace echoline::source
