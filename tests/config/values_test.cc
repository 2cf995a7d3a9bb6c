// Parsing and formatting of sizes, times, rates, fractions and thousandths.
#include "config/values.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "config/names.h"

namespace echoline::config {
namespace {

TEST(Sizes, AreExactInDecimalAndBinaryUnits) {
  EXPECT_EQ(*parse_bytes("4096"), 4096U);
  EXPECT_EQ(*parse_bytes("20MB"), 20'000'000U);
  EXPECT_EQ(*parse_bytes("12GiB"), 12ULL << 30);
  EXPECT_EQ(*parse_bytes("1.5GiB"), 3ULL << 29);
  EXPECT_EQ(*parse_bytes("2 KiB"), 2048U);
  EXPECT_EQ(*parse_bytes("18446744073709551615"), ~0ULL);
}

TEST(Sizes, ThatAreUnclearOrDoNotFitAreRefused) {
  for (const char* text : {"", "GiB", "12Gib", "-1", "1e9", "0.3B", "1.0000001GiB", "1,5GB",
                           "18446744073709551616", "99999999TiB", "1GiB/s", " 1"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(Times, AreNanosecondsAndNeedAUnit) {
  EXPECT_EQ(*parse_duration_ns("30ms"), 30'000'000U);
  EXPECT_EQ(*parse_duration_ns("1.5s"), 1'500'000'000U);
  EXPECT_EQ(*parse_duration_ns("5min"), 300'000'000'000U);
  EXPECT_EQ(*parse_duration_ns("1h"), 3'600'000'000'000U);
  EXPECT_EQ(*parse_duration_ns("250us"), 250'000U);
  EXPECT_EQ(*parse_duration_ns("0"), 0U);
  for (const char* text : {"10", "10m", "10 seconds", "-1s", "s"}) {
    EXPECT_FALSE(parse_duration_ns(text).ok()) << text;
  }
}

TEST(Rates, AreBytesPerSecond) {
  EXPECT_EQ(*parse_rate("20MB/s"), 20'000'000U);
  EXPECT_EQ(*parse_rate("8MiB/s"), 8U << 20);
  EXPECT_FALSE(parse_rate("20MB").ok());
  EXPECT_FALSE(parse_rate("20Mb/s").ok());
}

TEST(Shares, AreNumbersOrPercent) {
  EXPECT_DOUBLE_EQ(*parse_fraction("1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_fraction("0.25"), 0.25);
  EXPECT_FALSE(parse_fraction("one").ok());
  EXPECT_FALSE(parse_fraction("nan").ok());
  EXPECT_FALSE(parse_fraction("%").ok());
}

TEST(Thousandths, AreWholeOrRefused) {
  EXPECT_EQ(*parse_thousandths("2.5"), 2500U);
  EXPECT_EQ(*parse_thousandths("4"), 4000U);
  EXPECT_EQ(*parse_thousandths("1.001"), 1001U);
  EXPECT_EQ(*parse_thousandths("2.500000"), 2500U);
  EXPECT_FALSE(parse_thousandths("2.0005").ok());
  EXPECT_FALSE(parse_thousandths("-2").ok());
  EXPECT_FALSE(parse_thousandths("2x").ok());
}

TEST(Formatting, WritesWhatCanBeReadBack) {
  for (const std::uint64_t bytes : {0ULL, 512ULL, 4096ULL, 3ULL << 29, 12ULL << 30}) {
    EXPECT_EQ(*parse_bytes(format_bytes(bytes)), bytes) << format_bytes(bytes);
  }
  EXPECT_EQ(format_bytes(100ULL << 20), "100MiB");
  EXPECT_EQ(format_duration(30'000'000), "30ms");
  EXPECT_EQ(format_duration(10'000'000'000), "10s");
  EXPECT_EQ(format_duration(1'500'000'000), "1.5s");
  EXPECT_EQ(format_thousandths(2500), "2.5");
  EXPECT_EQ(format_thousandths(4000), "4");
}

TEST(Names, ThatAreNearAreFoundByEditsAndSwaps) {
  const std::vector<std::string> known = {"shuffle", "decode", "echo", "batch"};
  EXPECT_EQ(nearest_name("shufle", known), "shuffle");
  EXPECT_EQ(nearest_name("ehco", known), "echo");
  EXPECT_EQ(nearest_name("bach", known), "batch");
  EXPECT_EQ(nearest_name("colour", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), known), "");
}

TEST(Text, IsUtf8WithoutOverlongFormsAndSurrogates) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* text : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

}  // namespace
}  // namespace echoline::config
