// Brace lists: what they expand to, in which order, and which are errors.
#include <gmock/gmock.h>

#include "source/core/source.h"

namespace echoline::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> expanded(const std::string& url) {
  auto result = expand_braces(url);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : std::vector<std::string>();
}

std::string error_of(const std::string& url) {
  const auto result = expand_braces(url);
  EXPECT_FALSE(result.ok()) << url;
  return result.status().message();
}

TEST(Braces, AnAddressWithoutBracesIsItself) {
  EXPECT_THAT(expanded("s3://b/k"), ElementsAre("s3://b/k"));
}

TEST(Braces, RangesKeepTheirZeros) {
  EXPECT_THAT(expanded("x-{000..002}.tar"), ElementsAre("x-000.tar", "x-001.tar", "x-002.tar"));
  EXPECT_THAT(expanded("{8..11}"), ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(expanded("{08..11}"), ElementsAre("08", "09", "10", "11"));
  EXPECT_THAT(expanded("{0..2}"), ElementsAre("0", "1", "2"));
}

TEST(Braces, RangesGoDownAndBySteps) {
  EXPECT_THAT(expanded("{3..1}"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(expanded("{0..10..4}"), ElementsAre("0", "4", "8"));
  EXPECT_THAT(expanded("{5..5}"), ElementsAre("5"));
}

TEST(Braces, ListsMayBeSeveralNestedAndEmpty) {
  EXPECT_THAT(expanded("{a,b}{1,2}"), ElementsAre("a1", "a2", "b1", "b2"));
  EXPECT_THAT(expanded("x{a,{1..2}c,}y"), ElementsAre("xay", "x1cy", "x2cy", "xy"));
  EXPECT_THAT(expanded("{train,val}/{00..01}"),
              ElementsAre("train/00", "train/01", "val/00", "val/01"));
}

TEST(Braces, EscapedBracesAreCharacters) {
  EXPECT_THAT(expanded("a\\{b\\}"), ElementsAre("a{b}"));
  EXPECT_THAT(expanded("{a\\,b,c}"), ElementsAre("a,b", "c"));
}

TEST(Braces, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(error_of("a{1..3"),
              HasSubstr("'{' without '}'; write \\{ for the character itself at character 2"));
  EXPECT_THAT(error_of("a}b"), HasSubstr("'}' without '{'"));
  EXPECT_THAT(error_of("a{b}"), HasSubstr("a brace list is {a,b} or {000..004}"));
  EXPECT_THAT(error_of("{1..x}"), HasSubstr("a brace list is"));
  EXPECT_THAT(error_of("{}"), HasSubstr("a brace list is"));
}

TEST(Braces, FarTooManyAddressesAreRefusedAtOnce) {
  EXPECT_THAT(error_of("{0..999999999999}"), HasSubstr("more than"));
  EXPECT_THAT(error_of("{0..9999}{0..9999}"), HasSubstr("more than"));
  EXPECT_THAT(error_of(std::string(100, '{')), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace echoline::source
