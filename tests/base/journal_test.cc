#include "base/journal.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace echoline {
namespace {

TEST(Journal, QuotesNoLineAndCountsSeveral) {
  const std::array<JournalField, 3> fields = {
      {{"MESSAGE", "first\nsecond"}, {"PRIORITY", "4"}, {"ECHOLINE_STREAM", "a=b"}}};
  const std::string count("\x0c\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(journal_entry(fields),
            "MESSAGE\n" + count + "first\nsecond\nPRIORITY=4\nECHOLINE_STREAM=a=b\n");
}

TEST(Journal, IsNotTakenForGrantedWhereStderrIsSomethingElse) {
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
  ::setenv("JOURNAL_STREAM", "8:1", 1);
  EXPECT_FALSE(stderr_is_journal());
  ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace echoline
