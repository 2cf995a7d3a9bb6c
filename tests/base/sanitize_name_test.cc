// Names in messages: unchanged, made one line of UTF-8, or cut.
#include "base/sanitize_name.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace echoline {
namespace {

TEST(ShownName, IsTheNameItselfWhereThatIsShortText) {
  EXPECT_EQ(sanitize_name("train"), "train");
  EXPECT_EQ(sanitize_name("Überfluß"), "Überfluß");
  EXPECT_EQ(sanitize_name(std::string(200, 'x')), std::string(200, 'x'));
}

TEST(ShownName, IsOneLine) {
  EXPECT_EQ(sanitize_name("a\nERROR: b\x1b[2J\x7f"), "a\uFFFDERROR: b\uFFFD[2J\uFFFD");
  EXPECT_EQ(sanitize_name(std::string_view("\0", 1)), "\uFFFD");
}

TEST(ShownName, IsCutBetweenCharacters) {
  EXPECT_EQ(sanitize_name(std::string(1 << 20, 'x')), std::string(200, 'x') + "...");
  std::string accents = "x";
  while (accents.size() < 300) accents += "\u00e9";
  EXPECT_EQ(sanitize_name(accents), accents.substr(0, 199) + "...");
  const std::string garbage(300, '\x80');
  EXPECT_TRUE(is_utf8(sanitize_name(garbage)));
}

TEST(ShownText, FurtherLinesAreIndentedAndNothingElseIsObeyedByATerminal) {
  EXPECT_EQ(sanitize_text("one\n2026-01-01 error: two\x1b[2J\tthree"),
            "one\n    2026-01-01 error: two\uFFFD[2J\tthree");
  EXPECT_EQ(sanitize_text("a\u0085b\u202Ec\u2066d\u200Fe\u2028f"),
            "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf");
  EXPECT_EQ(sanitize_text("Überfluß – \u2019 \u20AC"), "Überfluß – \u2019 \u20AC");
  EXPECT_EQ(sanitize_text(std::string(1 << 20, 'x')).size(), kShownTextBytesMax + 3);
  EXPECT_EQ(sanitize_text("\xe2"), "\uFFFD");
}

TEST(ShownOutput, KeepsItsLinesAndLength) {
  EXPECT_EQ(sanitize_output("a\n\tb\x1b]0;x\x07\u009b\n"), "a\n\tb\uFFFD]0;x\uFFFD\uFFFD\n");
  EXPECT_EQ(sanitize_output(std::string(1 << 20, 'x')).size(), 1U << 20);
}

}  // namespace
}  // namespace echoline
