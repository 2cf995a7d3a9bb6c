// Which file of certificate authorities is used.
#include "source/http/authorities.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace echoline::source {
namespace {

TEST(Authorities, OfTheSystemForWhichTheLibraryWasBuiltAreNotNamed) {
  EXPECT_EQ(authorities_in_place_of("/proc/self/status"), "");
}

TEST(Authorities, OfAnotherSystemAreFoundInTheUsualPlaces) {
  const std::string found = authorities_in_place_of("/nowhere/ca.crt");
  if (found.empty()) GTEST_SKIP() << "this system has no certificate authorities";
  EXPECT_TRUE(std::filesystem::is_regular_file(found)) << found;
}

}  // namespace
}  // namespace echoline::source
