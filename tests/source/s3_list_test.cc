// Pages of listings and errors in the forms of several servers, and malformed ones.
#include "source/store/s3_list.h"

#include <gtest/gtest.h>

namespace echoline::source {
namespace {

constexpr const char* kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>photos</Name><KeyCount>2</KeyCount><IsTruncated>true</IsTruncated>
  <EncodingType>url</EncodingType><NextContinuationToken>1u/+&amp;x==</NextContinuationToken>
  <Contents><Key>a/b%20c%2Bd%25.tar</Key><Size>5368709120</Size><ETag>&quot;d41d-3&quot;</ETag>
    <Owner><ID>42</ID></Owner></Contents>
  <Contents><Key>z.tar</Key><Size>0</Size><ETag>"e"</ETag></Contents>
  <CommonPrefixes><Prefix>sub/</Prefix></CommonPrefixes>
</ListBucketResult>)";

TEST(S3List, APageHasKeysSizesEtagsAndItsContinuation) {
  const auto page = parse_s3_list(kPage);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->entries.size(), 2U);
  EXPECT_EQ(page->entries[0].key, "a/b c+d%.tar");
  EXPECT_EQ(page->entries[0].bytes, 5368709120U);
  EXPECT_EQ(page->entries[0].version, "d41d-3");
  EXPECT_EQ(page->entries[1].version, "e");
  EXPECT_EQ(page->next, "1u/+&x==");
  EXPECT_FALSE(page->ambiguous);
}

TEST(S3List, APlusInAnEncodedKeyIsAmbiguous) {
  const auto page = parse_s3_list(
      "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a+b</Key><Size>1</Size>"
      "</Contents></ListBucketResult>");
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(page->ambiguous);
}

TEST(S3List, AKeyThatIsNotEncodedIsTakenAsItIs) {
  const auto page = parse_s3_list(
      "<ListBucketResult><Contents><Key>a+b%20&lt;&#x263A;&#10;</Key><Size>1</Size></Contents>"
      "</ListBucketResult>");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->entries[0].key, "a+b%20<\xE2\x98\xBA\n");
  EXPECT_FALSE(page->ambiguous);
}

TEST(S3List, APageCutAtAnyByteIsAnError) {
  const std::string_view whole = kPage;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(parse_s3_list(whole.substr(0, bytes)).ok()) << bytes;
}

TEST(S3List, NonsenseIsAnError) {
  for (const char* xml :
       {"", "plain text", "<html></html>", "<ListBucketResult/><x>", "<?xml version=\"1.0\"?>",
        "<!-- -->", "<ListBucketResult/><ListBucketResult/>", "<a><b></a></b>", "</a>", "<>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><ListBucketResult/>",
        "<ListBucketResult>&x;</ListBucketResult>", "<ListBucketResult>&#xD800;</ListBucketResult>",
        "<ListBucketResult>&#0;</ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>99999999999999999999</Size></Contents>"
        "</ListBucketResult>"})
    EXPECT_FALSE(parse_s3_list(xml).ok()) << xml;
}

TEST(S3List, DepthIsBounded) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_FALSE(parse_s3_list(deep).ok());
}

TEST(S3List, AnErrorHasCodeMessageAndRegion) {
  const S3Error error = parse_s3_error(
      "<Error><Code>AuthorizationHeaderMalformed</Code><Message>line\none</Message>"
      "<Region>eu-west-1</Region><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>");
  EXPECT_EQ(error.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(error.message, "line one");
  EXPECT_EQ(error.region, "eu-west-1");
}

TEST(S3List, WhatIsNoErrorHasNoCode) { EXPECT_EQ(parse_s3_error("<html>").code, ""); }

}  // namespace
}  // namespace echoline::source
