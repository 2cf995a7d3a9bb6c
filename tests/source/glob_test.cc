// Glob patterns, for files and stores.
#include "source/core/glob.h"

#include <gtest/gtest.h>

namespace echoline::source {
namespace {

TEST(Glob, a_star_stays_within_its_segment) {
  EXPECT_TRUE(glob_matches("a/*.tar", "a/b.tar"));
  EXPECT_TRUE(glob_matches("a/*", "a/b"));
  EXPECT_FALSE(glob_matches("a/*.tar", "a/b/c.tar"));
  EXPECT_FALSE(glob_matches("*", "a/b"));
  EXPECT_TRUE(glob_matches("*/*", "a/b"));
}

TEST(Glob, stars_match_as_little_or_as_much_as_needed) {
  EXPECT_TRUE(glob_matches_segment("a*b*c", "abc"));
  EXPECT_TRUE(glob_matches_segment("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(glob_matches_segment("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(glob_matches_segment("**", ""));
}

TEST(Glob, many_stars_take_no_exponential_time) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches_segment(pattern + "b", std::string(5000, 'a')));
}

TEST(Glob, classes_and_question_marks_match_one_character) {
  EXPECT_TRUE(glob_matches("[a-c]?.x", "b7.x"));
  EXPECT_FALSE(glob_matches("[!a-c]?.x", "b7.x"));
  EXPECT_TRUE(glob_matches("[^a-c]?.x", "d7.x"));
  EXPECT_TRUE(glob_matches("[]x]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("a?b", "a/b"));
}

TEST(Glob, a_slash_at_the_end_is_everything_below) {
  EXPECT_TRUE(glob_matches("a/", "a/b/c"));
  EXPECT_TRUE(glob_matches("*/", "x/y"));
  EXPECT_FALSE(glob_matches("a/", "a"));
  EXPECT_FALSE(glob_matches("a/", "ab/c"));
  EXPECT_TRUE(glob_matches("", "anything/at/all"));
}

TEST(Glob, escaped_characters_are_themselves) {
  EXPECT_TRUE(glob_matches("\\*", "*"));
  EXPECT_FALSE(glob_matches("\\*", "x"));
  EXPECT_FALSE(has_glob("a\\*b"));
  EXPECT_EQ(unescape_glob("a\\*b"), "a*b");
}

TEST(Glob, the_prefix_is_what_every_match_begins_with) {
  EXPECT_EQ(glob_prefix("train/x-*.tar"), "train/x-");
  EXPECT_EQ(glob_prefix("train/x\\*y?z"), "train/x*y");
  EXPECT_EQ(glob_prefix("plain"), "plain");
  EXPECT_EQ(glob_prefix("*"), "");
}

TEST(Glob, an_open_class_is_an_error) {
  EXPECT_FALSE(check_glob("a[b").ok());
  EXPECT_FALSE(check_glob("a[b/c]").ok());
  EXPECT_TRUE(check_glob("a[b]").ok());
  EXPECT_TRUE(check_glob("a\\[b").ok());
}

}  // namespace
}  // namespace echoline::source
