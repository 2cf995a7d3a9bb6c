// Addresses: the scheme, bucket and path of a text, and which texts are refused.
#include "source/core/address.h"

#include <gtest/gtest.h>

namespace echoline::source {
namespace {

TEST(Address, a_plain_path_stays_as_it_is) {
  const auto address = parse_address("data/train 1.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kFile);
  EXPECT_EQ(address->path, "data/train 1.tar");
  EXPECT_EQ(address->url_of("data/x"), "data/x");
}

TEST(Address, file_urls_keep_their_form) {
  EXPECT_EQ(parse_address("file:///a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file://localhost/a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file:/a/b")->path, "/a/b");
  EXPECT_EQ(parse_address("file:///a/b")->url(), "file:///a/b");
}

TEST(Address, s3_is_cut_into_bucket_and_key) {
  const auto address = parse_address("s3://photos/a b/c+d%20.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kS3);
  EXPECT_EQ(address->bucket, "photos");
  EXPECT_EQ(address->path, "a b/c+d%20.tar");
  EXPECT_EQ(address->url(), "s3://photos/a b/c+d%20.tar");
}

TEST(Address, a_bucket_alone_is_everything_in_it) {
  EXPECT_TRUE(parse_address("s3://photos")->is_tree());
  EXPECT_TRUE(parse_address("s3://photos/")->is_tree());
  EXPECT_TRUE(parse_address("s3://photos/a/")->is_tree());
  EXPECT_FALSE(parse_address("s3://photos/a")->is_tree());
}

TEST(Address, what_is_no_address_is_refused_with_the_address_in_the_text) {
  for (const char* url :
       {"", "s3://", "s3:///key", "s3://user@host/key", "s3://a/b", "file://host/a",
        "file:", "gs://a/b", "http://", "https:///x", "http://ho st/x", "ftp://host/x"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.status().code(), Code::kInvalidArgument) << url;
    EXPECT_NE(address.status().message().find(url), std::string::npos) << url;
  }
}

TEST(Address, google_buckets_are_cut_as_those_of_s3) {
  const auto address = parse_address("gs://photos/a/b*.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kGcs);
  EXPECT_EQ(address->bucket, "photos");
  EXPECT_EQ(address->url_of("x"), "gs://photos/x");
}

TEST(Address, a_web_address_is_cut_after_its_host) {
  const auto address = parse_address("https://host:8443/a%20b/c.tar");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->scheme, Scheme::kHttp);
  EXPECT_EQ(address->bucket, "https://host:8443");
  EXPECT_EQ(address->path, "a%20b/c.tar");
  EXPECT_EQ(address->url(), "https://host:8443/a%20b/c.tar");
}

TEST(Address, a_web_server_is_not_asked_what_it_has) {
  for (const char* url : {"http://host", "http://host/", "http://host/a/", "http://host/*.tar",
                          "http://host/[ab].tar", "http://host/a\\b"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_NE(address.status().message().find("brace list"), std::string::npos) << url;
  }
}

TEST(Address, secrets_in_a_web_address_are_refused_and_not_repeated) {
  for (const char* url : {"https://user:hush@host/a", "https://host/a?signature=hush",
                          "https://host/a#hush", "https://user:hush@host/a?b"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address.ok()) << url;
    EXPECT_EQ(address.status().message().find("hush"), std::string::npos) << url;
  }
}

TEST(Address, that_is_refused_for_a_password_keeps_its_scheme) {
  EXPECT_TRUE(parse_address("http://me:hush@host/a")
                  .status()
                  .message()
                  .starts_with("address \"http://...@...\": a user or a password"));
}

TEST(Address, a_path_with_a_colon_is_a_path) {
  EXPECT_EQ(parse_address("folder/a://b")->path, "folder/a://b");
  EXPECT_EQ(parse_address("a:b")->path, "a:b");
}

}  // namespace
}  // namespace echoline::source
