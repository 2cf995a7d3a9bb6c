// The targets of requests, for AWS and for other servers, and the errors for their answers.
#include "source/store/s3_store.h"

#include <gmock/gmock.h>

namespace echoline::source {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::time_t kTime = 1369353600;

std::unique_ptr<ObjectStore> store(S3Options options) {
  if (options.region.empty()) options.region = "us-east-1";
  options.credentials = std::make_shared<CredentialSource>(
      Credentials{"key-id", "key-secret", "key-token", 0}, "profile photos in FILE");
  auto opened = S3Store::open(std::move(options));
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return std::move(opened).value();
}

S3Options options(std::string endpoint, std::string region = "",
                  Addressing addressing = Addressing::kAuto) {
  return {std::move(endpoint), std::move(region), addressing, {}};
}

std::string url(const S3Options& options, const std::string& address) {
  return store(options)->get(*parse_address(address), "", 0, 10, kTime).url;
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

TEST(S3Store, AwsIsAddressedByHostUnlessTheBucketHasDots) {
  EXPECT_EQ(url(options("", "eu-west-1"), "s3://photos/a b"),
            "https://photos.s3.eu-west-1.amazonaws.com/a%20b");
  EXPECT_EQ(url({}, "s3://pho.tos/a"), "https://s3.us-east-1.amazonaws.com/pho.tos/a");
  EXPECT_EQ(url(options("", "cn-north-1"), "s3://photos/a"),
            "https://photos.s3.cn-north-1.amazonaws.com.cn/a");
  EXPECT_EQ(url(options("", "", Addressing::kPath), "s3://photos/a"),
            "https://s3.us-east-1.amazonaws.com/photos/a");
}

TEST(S3Store, OtherServersAreAddressedByPathUnlessToldOtherwise) {
  EXPECT_EQ(url(options("http://host:9000/"), "s3://photos/a/../b"),
            "http://host:9000/photos/a/../b");
  EXPECT_EQ(url(options("http://[::1]:9000"), "s3://photos/a"), "http://[::1]:9000/photos/a");
  EXPECT_EQ(url(options("https://host", "", Addressing::kVirtual), "s3://photos/a"),
            "https://photos.host/a");
}

TEST(S3Store, ARangeAndThePinnedVersionAreAskedFor) {
  const HttpRequest request = store({})->get(*parse_address("s3://photos/a"), "abc-3", 5, 8, kTime);
  EXPECT_EQ(header(request, "range"), "bytes=5-7");
  EXPECT_EQ(header(request, "if-match"), "\"abc-3\"");
  EXPECT_EQ(header(request, "host"), "photos.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(header(request, "x-amz-security-token"), "key-token");
}

TEST(S3Store, AWriteIsSignedWithTheDigestOfItsBytes) {
  const HttpRequest request = store({})->put(*parse_address("s3://photos/a"), "content", kTime);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.body, "content");
  EXPECT_EQ(header(request, "x-amz-content-sha256"), sha256_hex("content"));
  EXPECT_THAT(header(request, "Authorization"), HasSubstr("content-type"));
}

TEST(S3Store, AListingEscapesWhatItAsksFor) {
  ListQuery query;
  query.bucket = "photos";
  query.prefix = "a b/";
  query.delimiter = "/";
  query.continuation = "x+/=";
  EXPECT_THAT(
      store({})->list(query, kTime).url,
      EndsWith("/?continuation-token=x%2B%2F%3D&delimiter=%2F&encoding-type=url&list-type=2&"
               "max-keys=1000&prefix=a%20b%2F"));
}

Verdict refused(int status, const std::string& body, std::string region = "",
                Access wanted = Access::kRead) {
  HttpResponse response;
  response.status = status;
  if (!region.empty()) response.headers.emplace_back("x-amz-bucket-region", region);
  return store({})->refuse(response, body, wanted);
}

std::string error(const std::string& code, const std::string& message = "m",
                  const std::string& more = "") {
  return "<Error><Code>" + code + "</Code><Message>" + message + "</Message>" + more + "</Error>";
}

TEST(S3Store, WhatMayPassIsWorthARetry) {
  for (const int status : {408, 429, 500, 502, 503, 504})
    EXPECT_TRUE(refused(status, "").retry) << status;
  EXPECT_TRUE(refused(400, error("RequestTimeout")).retry);
  for (const int status : {400, 401, 403, 404, 405, 412, 416, 501})
    EXPECT_FALSE(refused(status, "").retry) << status;
}

TEST(S3Store, ErrorsSayWhatToDo) {
  const auto text = [](const Verdict& verdict) { return verdict.status.message(); };
  EXPECT_THAT(text(refused(403, error("SignatureDoesNotMatch"))),
              HasSubstr("check the secret key, which is from profile photos in FILE"));
  EXPECT_THAT(text(refused(403, error("AccessDenied"))),
              HasSubstr("use another than that from profile photos in FILE"));
  EXPECT_THAT(text(refused(404, error("NoSuchKey"))), HasSubstr("of a folder, end it with /"));
  EXPECT_THAT(text(refused(403, error("RequestTimeTooSkewed"))),
              HasSubstr("set this machine's clock"));
  EXPECT_THAT(text(refused(400, error("ExpiredToken"))), HasSubstr("renew the session token"));
  EXPECT_THAT(text(refused(404, error("NoSuchBucket"))), HasSubstr("check the bucket's name"));
  EXPECT_THAT(text(refused(403, "<html>")), HasSubstr("s3:GetObject"));
  EXPECT_THAT(text(refused(403, "<html>", "", Access::kWrite)), HasSubstr("s3:PutObject"));
}

TEST(S3Store, ABucketOfAnotherRegionNamesIt) {
  EXPECT_THAT(refused(301, "", "eu-west-1").status.message(), HasSubstr("set `region: eu-west-1`"));
  EXPECT_THAT(
      refused(400, error("AuthorizationHeaderMalformed", "m", "<Region>ap-south-1</Region>"))
          .status.message(),
      HasSubstr("set `region: ap-south-1`"));
  EXPECT_THAT(refused(301, "", "bad region\n").status.message(), Not(HasSubstr("bad region")));
}

TEST(S3Store, KeysDoNotGetIntoMessages) {
  const std::string text = refused(403, error("X", "key-id key-secret key-token")).status.message();
  EXPECT_THAT(text, HasSubstr("... ... ..."));
}

}  // namespace
}  // namespace echoline::source
