// Glob patterns, for files and stores.
#include "source/core/glob.h"

#include <gtest/gtest.h>

namespace echoline::source {
namespace {

TEST(Glob, AStarStaysWithinItsSegment) {
  EXPECT_TRUE(glob_matches("a/*.tar", "a/b.tar"));
  EXPECT_TRUE(glob_matches("a/*", "a/b"));
  EXPECT_FALSE(glob_matches("a/*.tar", "a/b/c.tar"));
  EXPECT_FALSE(glob_matches("*", "a/b"));
  EXPECT_TRUE(glob_matches("*/*", "a/b"));
}

TEST(Glob, StarsMatchAsLittleOrAsMuchAsNeeded) {
  EXPECT_TRUE(glob_matches_segment("a*b*c", "abc"));
  EXPECT_TRUE(glob_matches_segment("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(glob_matches_segment("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(glob_matches_segment("**", ""));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches_segment(pattern + "b", std::string(5000, 'a')));
}

TEST(Glob, ClassesAndQuestionMarksMatchOneCharacter) {
  EXPECT_TRUE(glob_matches("[a-c]?.x", "b7.x"));
  EXPECT_FALSE(glob_matches("[!a-c]?.x", "b7.x"));
  EXPECT_TRUE(glob_matches("[^a-c]?.x", "d7.x"));
  EXPECT_TRUE(glob_matches("[]x]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("a?b", "a/b"));
}

TEST(Glob, ASlashAtTheEndIsEverythingBelow) {
  EXPECT_TRUE(glob_matches("a/", "a/b/c"));
  EXPECT_TRUE(glob_matches("*/", "x/y"));
  EXPECT_FALSE(glob_matches("a/", "a"));
  EXPECT_FALSE(glob_matches("a/", "ab/c"));
  EXPECT_TRUE(glob_matches("", "anything/at/all"));
}

TEST(Glob, EscapedCharactersAreThemselves) {
  EXPECT_TRUE(glob_matches("\\*", "*"));
  EXPECT_FALSE(glob_matches("\\*", "x"));
  EXPECT_FALSE(has_glob("a\\*b"));
  EXPECT_EQ(unescape_glob("a\\*b"), "a*b");
}

TEST(Glob, ThePrefixIsWhatEveryMatchBeginsWith) {
  EXPECT_EQ(glob_prefix("train/x-*.tar"), "train/x-");
  EXPECT_EQ(glob_prefix("train/x\\*y?z"), "train/x*y");
  EXPECT_EQ(glob_prefix("plain"), "plain");
  EXPECT_EQ(glob_prefix("*"), "");
}

TEST(Glob, AnOpenClassIsAnError) {
  EXPECT_FALSE(check_glob("a[b").ok());
  EXPECT_FALSE(check_glob("a[b/c]").ok());
  EXPECT_TRUE(check_glob("a[b]").ok());
  EXPECT_TRUE(check_glob("a\\[b").ok());
}

}  // namespace
}  // namespace echoline::source
