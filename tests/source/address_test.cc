// Addresses: the scheme, bucket and path of a text, and which texts are refused.
#include "source/core/address.h"

#include <gtest/gtest.h>

#include "source/core/hub_address.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

TEST(Address, APlainPathStaysAsItIs) {
  const auto address = parse_address("data/train 1.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kFile);
  EXPECT_EQ(address->path, "data/train 1.tar");
  EXPECT_EQ(address->url_of("data/x"), "data/x");
}

TEST(Address, FileUrlsKeepTheirForm) {
  EXPECT_EQ(parse_address("file:///a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file://localhost/a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file:/a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file:///a/b")->url(), "file:///a/b");
}

TEST(Address, S3IsCutIntoBucketAndKey) {
  const auto address = parse_address("s3://photos/a b/c+d%20.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kS3);
  EXPECT_EQ(address->bucket, "photos");
  EXPECT_EQ(address->path, "a b/c+d%20.tar");
  EXPECT_EQ(address->url(), "s3://photos/a b/c+d%20.tar");
}

TEST(Address, ABucketAloneIsEverythingInIt) {
  EXPECT_TRUE(parse_address("s3://photos")->is_tree());
  EXPECT_TRUE(parse_address("s3://photos/")->is_tree());
  EXPECT_TRUE(parse_address("s3://photos/a/")->is_tree());
  EXPECT_FALSE(parse_address("s3://photos/a")->is_tree());
}

TEST(Address, WhatIsNoAddressIsRefusedWithTheAddressInTheText) {
  for (const char* url :
       {"", "s3://", "s3:///key", "s3://user@host/key", "s3://a/b", "file://host/a",
        "file:", "gs://a/b", "http://", "https:///x", "http://ho st/x", "ftp://host/x"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.status().code(), Code::kInvalidArgument) << url;
    EXPECT_NE(address.status().message().find(url), std::string::npos) << url;
  }
}

TEST(Address, GoogleBucketsAreCutAsThoseOfS3) {
  const auto address = parse_address("gs://photos/a/b*.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kGcs);
  EXPECT_EQ(address->bucket, "photos");
  EXPECT_EQ(address->url_of("x"), "gs://photos/x");
}

TEST(Address, AWebAddressIsCutAfterItsHost) {
  const auto address = parse_address("https://host:8443/a%20b/c.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kHttp);
  EXPECT_EQ(address->bucket, "https://host:8443");
  EXPECT_EQ(address->path, "a%20b/c.tar");
  EXPECT_EQ(address->url(), "https://host:8443/a%20b/c.tar");
}

TEST(Address, AWebServerIsNotAskedWhatItHas) {
  for (const char* url : {"http://host", "http://host/", "http://host/a/", "http://host/*.tar",
                          "http://host/[ab].tar", "http://host/a\\b"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_NE(address.status().message().find("brace list"), std::string::npos) << url;
  }
}

TEST(Address, SecretsInAWebAddressAreRefusedAndNotRepeated) {
  for (const char* url : {"https://user:hush@host/a", "https://host/a?signature=hush",
                          "https://host/a#hush", "https://user:hush@host/a?b"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.status().message().find("hush"), std::string::npos) << url;
  }
}

TEST(Address, ThatIsRefusedForAPasswordKeepsItsScheme) {
  EXPECT_TRUE(parse_address("http://me:hush@host/a")
                  .status()
                  .message()
                  .starts_with("address \"http://...@...\": a user or a password"));
}

TEST(Address, OnTheHubTheRepositoryWithItsRevisionIsTheBucket) {
  for (const char* repository :
       {"datasets/me/my.set-1_0", "datasets/me/set@v1.0",
        "datasets/me/set@refs%2Fconvert%2Fparquet", "datasets/me/set@refs/convert/parquet",
        "datasets/me/set@refs/pr/12", "datasets/me/set@~parquet"}) {
    const std::string url = std::string("hf://") + repository + "/data/tr@in *.parquet";
    const auto address = parse_address(url);
    ASSERT_TRUE(address.ok()) << address.status().message();
    EXPECT_EQ(address->scheme, Scheme::kHub);
    EXPECT_EQ(address->bucket, repository);
    EXPECT_EQ(address->path, "data/tr@in *.parquet");
    EXPECT_EQ(address->url(), url);
  }
  EXPECT_TRUE(parse_address("hf://datasets/me/set")->is_tree());
  EXPECT_EQ(parse_address("hf://datasets/me/set@main")->path, "");
  for (const char* url :
       {"hf://", "hf://me/set/x", "hf://datasets/", "hf://datasets/set", "hf://datasets/me/",
        "hf://datasets/me//x", "hf://datasets/../set/x", "hf://datasets/me/s?t/x",
        "hf://datasets/me/set@/x", "hf://datasets/me/set@refs/pr/1:/x", "hf://spaces/me/set/x"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_NE(address.status().message().find("hf://datasets/OWNER/NAME@REVISION"),
              std::string::npos)
        << url;
  }
}

TEST(Address, ContentOnTheHubHasItsNameWithoutTheRevision) {
  EXPECT_EQ(without_revision("hf://datasets/me/set@refs/pr/1/a@b/c"), "hf://datasets/me/set/a@b/c");
  EXPECT_EQ(without_revision("hf://datasets/me/set/a"), "hf://datasets/me/set/a");
  EXPECT_EQ(without_revision("s3://photos/datasets/me/set@1/a"), "s3://photos/datasets/me/set@1/a");
}

TEST(Address, APathWithAColonIsAPath) {
  EXPECT_EQ(parse_address("folder/a://b")->path, "folder/a://b");
  EXPECT_EQ(parse_address("a:b")->path, "a:b");
}

TEST(Endpoint, OnlyNumbersOfThisMachineAreLoopbackNotNamesThatBeginAlike) {
  const auto insecure = [](const char* text) { return parse_endpoint(text)->is_insecure(); };
  EXPECT_FALSE(insecure("http://127.0.0.2:9000"));
  EXPECT_FALSE(insecure("http://localhost"));
  EXPECT_FALSE(insecure("http://[::1]:80"));
  EXPECT_FALSE(insecure("https://127.example.com"));
  EXPECT_TRUE(insecure("http://127.example.com"));
  EXPECT_TRUE(insecure("http://10.0.0.1"));
}

}  // namespace
}  // namespace echoline::source
