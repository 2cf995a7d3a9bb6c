// The kind of storage of an address.
#include "base/scheme.h"

#include <gtest/gtest.h>

namespace echoline {
namespace {

TEST(Scheme, EachKindOfAddressIsKnown) {
  EXPECT_EQ(scheme_of("/data/a.tar"), Scheme::kFile);
  EXPECT_EQ(scheme_of("a"), Scheme::kFile);
  EXPECT_EQ(scheme_of("file:/data/a"), Scheme::kFile);
  EXPECT_EQ(scheme_of("file:///data/a"), Scheme::kFile);
  EXPECT_EQ(scheme_of("s3://bucket/key"), Scheme::kS3);
  EXPECT_EQ(scheme_of("gs://bucket/key"), Scheme::kGcs);
  EXPECT_EQ(scheme_of("http://host/a"), Scheme::kHttp);
  EXPECT_EQ(scheme_of("https://host/a"), Scheme::kHttp);
  EXPECT_EQ(scheme_of("ftp://host/a"), std::nullopt);
}

TEST(Scheme, AColonWithinAPathMakesNoScheme) {
  EXPECT_EQ(scheme_of("folder/s3://a"), Scheme::kFile);
  EXPECT_EQ(scheme_word("folder/s3://a"), "");
  EXPECT_EQ(scheme_word("ftp://a"), "ftp");
}

TEST(Scheme, OnlyFilesAreLocal) {
  EXPECT_TRUE(is_local("/data/a"));
  EXPECT_TRUE(is_local("file:///data/a"));
  EXPECT_FALSE(is_local("s3://bucket/key"));
  EXPECT_FALSE(is_local("ftp://host/a"));
}

TEST(Scheme, SlashesThatAreMissingAreNoticed) {
  for (const char* address : {"s3:/bucket/key", "s3:bucket", "gs:/b", "https:/host/path"}) {
    EXPECT_FALSE(word_without_slashes(address).empty()) << address;
  }
  EXPECT_EQ(word_without_slashes("https:host"), "https");
  for (const char* address : {"s3://bucket/key", "file:/data", "/data/s3:/x", "data", "s3",
                              "s3:", "s3://", "c:/data", "./s3:/bucket"}) {
    EXPECT_EQ(word_without_slashes(address), "") << address;
  }
}

}  // namespace
}  // namespace echoline
