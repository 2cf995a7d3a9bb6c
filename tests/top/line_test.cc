// Text for a terminal: allowed characters, widths, and styles.
#include "top/line.h"

#include <gtest/gtest.h>

#include <clocale>

#include "top/table.h"
#include "top/view.h"
#include "top/wrap.h"

namespace echoline::top {
namespace {

const Theme kAscii = {};
const Theme kUtf8 = {.utf8 = true, .color = true};

class LineTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};

TEST_F(LineTest, PrintableTextKeepsWhatATerminalCanShow) {
  EXPECT_EQ(printable("größe 日本", kUtf8), "größe 日本");
  EXPECT_EQ(printable("größe", kAscii), "gr??e");
  EXPECT_EQ(printable("a\x1b[31m\n\x7f", kUtf8), "a?[31m??");
  EXPECT_EQ(printable("\xc2\x9b\xe2\x80\x8f\xff\xc0\x80\xed\xa0\x80", kUtf8),
            "?????"
            "???");
}

TEST_F(LineTest, WideCharactersTakeTwoColumnsAndAreNeverHalved) {
  EXPECT_EQ(columns_of("日本"), 4U);
  EXPECT_EQ(shortened("日本語", 6, kUtf8), "日本語");
  EXPECT_EQ(shortened("日本語", 5, kUtf8), "日本…");
  EXPECT_EQ(shortened("日本語", 4, kUtf8), "日…");
  EXPECT_EQ(shortened("abc", 2, kAscii), "a~");
  EXPECT_EQ(shortened("abc", 0, kAscii), "");
  EXPECT_EQ(Line().add("a日本").text(4), "a日 ");
}

TEST_F(LineTest, StylesEndWhereTheyBeganAndNeedNoColor) {
  Line line;
  line.add("ab", Style::kBusy).add("cd");
  EXPECT_EQ(line.styled(5, kUtf8), "\x1b[32mab\x1b[0mcd ");
  EXPECT_EQ(line.styled(5, {.utf8 = true}), "abcd ");
  EXPECT_EQ(line.styled(1, kUtf8), "\x1b[32ma\x1b[0m");
}

TEST_F(LineTest, WrappedTextBeginsALineForWhatDoesNotFit) {
  const Paper paper{.columns = kLabelColumns + 7, .theme = kAscii};
  const auto texts = [&](std::size_t lines_max) {
    std::string all;
    for (const Line& line : wrapped("one", {"abc", "def", "toolongword"}, " ", lines_max, paper)) {
      all += line.text(paper.columns) + "|";
    }
    return all;
  };
  EXPECT_EQ(texts(3), "one      abc def|         toolon~|");
  EXPECT_EQ(texts(1), "one      abc de~|");
  EXPECT_TRUE(wrapped("one", {}, " ", 3, paper).empty());
  EXPECT_EQ(words_of(" a  b "), (std::vector<std::string>{"a", "b"}));
}

TEST_F(LineTest, ATableLeavesOutTheColumnsOfHighestRankFirst) {
  const std::vector<Column> columns = {{"A", 3, 2}, {"B", 3, 1}};
  EXPECT_EQ(Table("NAME", columns, 20, kAscii).row("x", {"1", "2"}).text(20),
            "x             1    2");
  EXPECT_EQ(Table("NAME", columns, 15, kAscii).row("x", {"1", "2"}).text(15), "x             2");
  EXPECT_EQ(Table("NAME", columns, 8, kAscii).row("x", {"1", "2"}).text(8), "x       ");
}

TEST(Keys, ChoosePauseSortAndQuit) {
  const std::vector<std::string> streams = {"a", "b", "c"};
  View view;
  view.stream = "a";
  EXPECT_TRUE(apply_keys("j\x1b[B", streams, view));
  EXPECT_EQ(view.stream, "c");
  EXPECT_TRUE(apply_keys("j", streams, view));
  EXPECT_EQ(view.stream, "c");
  EXPECT_TRUE(apply_keys("\x1b[A\x1bOA\x1b[A", streams, view));
  EXPECT_EQ(view.stream, "a");
  EXPECT_TRUE(apply_keys("2\x1b[1;5C9", streams, view));
  EXPECT_EQ(view.stream, "b");
  EXPECT_TRUE(apply_keys("ps?", streams, view));
  EXPECT_TRUE(view.paused);
  EXPECT_TRUE(view.help);
  EXPECT_EQ(sort_name(view.sort), "wait");
  EXPECT_TRUE(apply_keys("p\x1b", streams, view));
  EXPECT_FALSE(view.paused);
  EXPECT_FALSE(view.help);
  EXPECT_FALSE(apply_keys("q", streams, view));
  view.stream = "gone";
  EXPECT_TRUE(apply_keys("j", streams, view));
  EXPECT_EQ(view.stream, "a");
  EXPECT_TRUE(apply_keys("j1", {}, view));
}

}  // namespace
}  // namespace echoline::top
