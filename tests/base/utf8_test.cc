// Conversion of arbitrary bytes to UTF-8.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace echoline {
namespace {

TEST(ToUtf8, LeavesTextAndMarksEachOtherByte) {
  EXPECT_EQ(to_utf8(""), "");
  EXPECT_EQ(to_utf8("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(to_utf8("caf\xe9.tar"), "caf\xef\xbf\xbd.tar");
  EXPECT_EQ(to_utf8("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(to_utf8("a\xe2\x82"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(is_utf8(to_utf8(std::string("\x00\x80\xc0\xaf", 4))));
}

}  // namespace
}  // namespace echoline
