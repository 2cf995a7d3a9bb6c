// Whole screens, column by column. ECHOLINE_UPDATE_GOLDEN=1 writes the expected files again; check
// them before a commit.
#include "top/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <clocale>
#include <fstream>
#include <sstream>

#include "top/made_answers.h"

namespace echoline::top {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = ECHOLINE_SOURCE_DIR "/tests/top/golden/";

// "|" at both ends shows trailing spaces.
std::string picture(const std::vector<Line>& lines, const Size& size) {
  std::string text;
  for (const Line& line : lines) text += "|" + line.text(size.columns) + "|\n";
  return text;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void expect_golden(const std::string& name, const std::string& text) {
  if (::getenv("ECHOLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(kFolder + name) << text;
  EXPECT_EQ(text, content(kFolder + name)) << name;
}

View view_of(const std::string& stream) {
  View view;
  view.stream = stream;
  view.clock = "14:02:11";
  return view;
}

const Theme kAscii = {};
const Theme kUtf8 = {.utf8 = true};

class Frame : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  const Interval interval_ = between(first_answer(), second_answer());
};

TEST_F(Frame, IsAsThePicturesShowIt) {
  const Size sizes[] = {{80, 24}, {120, 40}, {40, 12}};
  for (const Size& size : sizes) {
    const std::string name = std::to_string(size.columns) + "x" + std::to_string(size.rows);
    const View view = view_of("train");
    expect_golden(name + ".txt", picture(frame(interval_, view, size, kUtf8), size));
    expect_golden(name + ".ascii.txt", picture(frame(interval_, view, size, kAscii), size));
  }
}

TEST_F(Frame, OfAFirstLookHasNoRatesAndOfHelpNoStreams) {
  const Size size = {80, 24};
  const Interval first = between(v1::WatchStatsResponse(), first_answer());
  expect_golden("first.txt", picture(frame(first, view_of("eval"), size, kUtf8), size));
  View help = view_of("train");
  help.help = true;
  expect_golden("help.txt", picture(frame(interval_, help, size, kUtf8), size));
}

TEST_F(Frame, OfAnySizeHasJustItsRowsAndColumns) {
  for (std::size_t columns = 1; columns < 140; columns += 3) {
    for (std::size_t rows = 1; rows < 45; rows += 2) {
      const Size size = {columns, rows};
      for (const Theme& theme : {kUtf8, kAscii}) {
        const std::vector<Line> lines = frame(interval_, view_of("train"), size, theme);
        ASSERT_EQ(lines.size(), rows);
        for (const Line& line : lines) ASSERT_EQ(columns_of(line.text(columns)), columns);
      }
    }
  }
}

TEST_F(Frame, NamesTheKeyOfTheConfiguredThrottle) {
  v1::WatchStatsResponse first = first_answer();
  v1::WatchStatsResponse second = second_answer();
  const auto wait = [](v1::WatchStatsResponse& answer, double seconds) {
    for (v1::StreamStatus& stream : *answer.mutable_streams())
      (*stream.mutable_source()->mutable_wait_seconds())["imitated"] = seconds;
  };
  wait(first, 0);
  wait(second, 62);
  const Size size = {120, 40};
  const std::string text =
      picture(frame(between(first, second), view_of("train"), size, kUtf8), size);
  EXPECT_THAT(text, HasSubstr("waiting: read.throttle"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("imitated")));
}

TEST_F(Frame, ShowsWhyThereIsNothingToShow) {
  const Size size = {80, 24};
  View view = view_of("gone");
  EXPECT_THAT(picture(frame(interval_, view, size, kUtf8), size),
              HasSubstr("no stream 'gone' now"));
  EXPECT_THAT(picture(frame(Interval(), View(), size, kUtf8), size), HasSubstr("no streams"));
  view.notice = "the daemon went away 3 s ago; waiting for its return";
  view.paused = true;
  const std::string text = picture(frame(interval_, view, size, kUtf8), size);
  EXPECT_THAT(text, HasSubstr("the daemon went away 3 s ago"));
  EXPECT_THAT(text, HasSubstr("paused"));
  EXPECT_THAT(text, HasSubstr("p continue"));
}

TEST_F(Frame, OfManyStreamsAndTrainersShowsTheChosenAndCountsTheRest) {
  v1::WatchStatsResponse many = second_answer();
  for (int i = 0; i < 40; ++i) {
    v1::StreamStatus& more = *many.add_streams();
    more = many.streams(1);
    more.set_name("more" + std::to_string(i));
    for (int rank = 0; rank < 40; ++rank) more.add_consumers()->set_job("job");
  }
  const Size size = {80, 24};
  const Interval interval = between(many, many);
  const std::string text = picture(frame(interval, view_of("more30"), size, kUtf8), size);
  EXPECT_THAT(text, HasSubstr("> more30"));
  EXPECT_THAT(text, HasSubstr(" more"));
  EXPECT_THAT(text, ::testing::ContainsRegex("and [0-9]+ more"));
}

TEST_F(Frame, AsTextHasAllThatIsThere) {
  expect_golden("block.txt", block(interval_, view_of(""), 100, kAscii));
  const std::string one = block(interval_, view_of("train"), 100, kAscii);
  EXPECT_THAT(one, HasSubstr("late/0"));
  EXPECT_THAT(one, ::testing::Not(HasSubstr("eval")));
}

TEST_F(Frame, CannotBeLeftByAHostileName) {
  const std::string hostile =
      "\x1b[2Jx\x07\xc2\x9b"
      "31m\r\n\t\xff\xe2\x80\xae";
  v1::WatchStatsResponse answer = second_answer();
  answer.mutable_streams(1)->set_name(hostile);
  answer.mutable_streams(1)->mutable_consumers(0)->set_job(hostile);
  answer.mutable_streams(1)->mutable_verdict()->set_text(hostile);
  answer.mutable_streams(1)->set_state(hostile);
  answer.mutable_streams(1)->mutable_source()->set_scheme(hostile);
  answer.mutable_streams(1)->mutable_stages(0)->set_name(hostile);
  answer.mutable_streams(1)->mutable_caches(0)->set_level(hostile);
  answer.mutable_streams(1)->set_echo_point(hostile);
  (*answer.mutable_streams(1)->mutable_records_bad())[hostile] = 1;
  answer.mutable_daemon()->set_version(hostile);
  const Interval interval = between(first_answer(), answer);
  for (const Theme& theme : {kUtf8, kAscii}) {
    const Size size = {100, 40};
    std::string text = block(interval, view_of(""), 100, theme);
    for (const Line& line : frame(interval, view_of(hostile), size, theme)) {
      text += line.text(100) + "\n";
    }
    for (const unsigned char byte : text) ASSERT_TRUE(byte >= 0x20 || byte == '\n') << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
    EXPECT_THAT(text, HasSubstr("?[2Jx??31m?"));
  }
}

}  // namespace
}  // namespace echoline::top
