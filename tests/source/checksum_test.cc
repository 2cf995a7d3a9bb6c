// Checksums in response headers: known values, and which headers count.
#include <gtest/gtest.h>

#include <numeric>

#include "base/crc.h"
#include "source/reading.h"
#include "source/store/body_checksum.h"

namespace echoline::source {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

HttpResponse response(std::vector<std::pair<std::string, std::string>> headers) {
  HttpResponse answer;
  answer.status = 200;
  answer.headers = std::move(headers);
  return answer;
}

constexpr std::string_view kDigits = "123456789";

TEST(Crc, KnownValuesComeOut) {
  EXPECT_EQ(crc32c(0, bytes_of(kDigits)), 0xE3069283U);
  EXPECT_EQ(crc64nvme(0, bytes_of(kDigits)), 0xAE8B14860A799888U);
  EXPECT_EQ(crc32c(0, {}), 0U);
}

TEST(Crc, PiecesGiveWhatTheWholeGives) {
  const std::string text = pattern_bytes(10'000);
  for (const std::size_t cut : {0U, 1U, 7U, 8U, 9U, 4096U, 9999U, 10'000U}) {
    const std::string_view first = std::string_view(text).substr(0, cut);
    const std::string_view rest = std::string_view(text).substr(cut);
    EXPECT_EQ(crc32c(crc32c(0, bytes_of(first)), bytes_of(rest)), crc32c(0, bytes_of(text)));
    EXPECT_EQ(crc64nvme(crc64nvme(0, bytes_of(first)), bytes_of(rest)),
              crc64nvme(0, bytes_of(text)));
  }
}

// "123456789" under each header.
const std::pair<const char*, const char*> kOffers[] = {
    {"x-amz-checksum-crc32c", "4waSgw=="},
    {"x-goog-hash", "crc32c=4waSgw=="},
    {"x-goog-hash", "md5=JfnnlDI7RTiF9RgfG2JNCw==,crc32c=4waSgw=="},
    {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="},
    {"x-amz-checksum-crc32", "y/Q5Jg=="},
    {"content-md5", "JfnnlDI7RTiF9RgfG2JNCw=="},
    {"etag", "\"25f9e794323b453885f5181f1b624d0b\""}};

TEST(BodyChecksum, EveryOfferAgreesWithItsBytesAndWithNoOthers) {
  ChecksumPolicy policy;
  policy.etag_is_md5 = true;
  for (const auto& [name, value] : kOffers) {
    auto checksum = BodyChecksum::offered(response({{name, value}}), policy);
    ASSERT_TRUE(checksum) << name;
    checksum->add(bytes_of(kDigits.substr(0, 4)));
    EXPECT_FALSE(checksum->agrees()) << name;
    checksum->add(bytes_of(kDigits.substr(4)));
    EXPECT_TRUE(checksum->agrees()) << name;
    checksum->add(bytes_of("0"));
    EXPECT_FALSE(checksum->agrees()) << name;
    checksum->restart();
    checksum->add(bytes_of(kDigits));
    EXPECT_TRUE(checksum->agrees()) << name;
  }
}

TEST(BodyChecksum, WhatSaysNothingAboutTheBytesIsNoOffer) {
  ChecksumPolicy policy;
  policy.etag_is_md5 = true;
  const std::pair<std::string, std::string> etag = {"etag", "\"25f9e794323b453885f5181f1b624d0b\""};
  for (const auto& headers : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {},
           {{"x-amz-checksum-crc32c", "4waSgw==-3"}},
           {{"x-amz-checksum-crc32", "not base64!"}},
           {{"x-goog-hash", "sha1=4waSgw=="}},
           {{"etag", "\"25f9e794323b453885f5181f1b624d0b-2\""}},
           {{"etag", "\"5f-1a2b\""}},
           {{"etag", "\"zzf9e794323b453885f5181f1b624d0b\""}},
           {etag, {"x-amz-server-side-encryption", "aws:kms"}},
           {etag, {"x-amz-server-side-encryption-customer-algorithm", "AES256"}}})
    EXPECT_FALSE(BodyChecksum::offered(response(headers), policy));
  EXPECT_TRUE(
      BodyChecksum::offered(response({etag, {"x-amz-server-side-encryption", "AES256"}}), policy));
}

TEST(BodyChecksum, ThePolicyLeavesOutWhatIsSlowOrEverything) {
  ChecksumPolicy policy;
  policy.etag_is_md5 = true;
  policy.level = ChecksumPolicy::Level::kFast;
  for (const auto& [name, value] : kOffers) {
    const bool is_md5 = std::string_view(name) == "etag" || std::string_view(name) == "content-md5";
    EXPECT_EQ(BodyChecksum::offered(response({{name, value}}), policy).has_value(), !is_md5);
  }
  policy.level = ChecksumPolicy::Level::kNone;
  EXPECT_FALSE(BodyChecksum::offered(response({{"x-amz-checksum-crc32c", "4waSgw=="}}), policy));
  policy.level = ChecksumPolicy::Level::kAll;
  policy.etag_is_md5 = false;
  EXPECT_FALSE(
      BodyChecksum::offered(response({{"etag", "\"25f9e794323b453885f5181f1b624d0b\""}}), policy));
}

}  // namespace
}  // namespace echoline::source
