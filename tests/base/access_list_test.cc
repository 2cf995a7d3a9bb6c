// Names, numbers and groups, and the peers that they match.
#include "base/access_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace echoline {
namespace {

using testing::HasSubstr;

constexpr uid_t kStranger = 54'321;

bool names(const std::vector<std::string>& entries, const Peer& peer) {
  const Result<AccessList> access = AccessList::parse("some.key", entries);
  EXPECT_TRUE(access.ok()) << access.status().message();
  return access.ok() && access->names(peer);
}

TEST(AccessList, WithoutEntriesNamesNobody) {
  EXPECT_FALSE(names({}, {.uid = kStranger, .gid = kStranger, .groups = {}}));
  EXPECT_TRUE(AccessList().empty());
}

TEST(AccessList, UsersGoByNameOrNumber) {
  EXPECT_TRUE(names({"nobody"}, {.uid = 65'534, .gid = 1, .groups = {}}));
  EXPECT_TRUE(names({"1", "54321"}, {.uid = kStranger, .gid = 1, .groups = {}}));
  EXPECT_FALSE(names({"nobody", "54322"}, {.uid = kStranger, .gid = 54'322, .groups = {54'322}}));
}

TEST(AccessList, GroupsCountWhetherFirstOrSupplementary) {
  const std::vector<std::string> entries{"group:daemon", "group:54322"};
  EXPECT_TRUE(names(entries, {.uid = kStranger, .gid = 1, .groups = {}}));
  EXPECT_TRUE(names(entries, {.uid = kStranger, .gid = 9, .groups = {7, 54'322}}));
  EXPECT_FALSE(names(entries, {.uid = 54'322, .gid = 9, .groups = {7, 8}}));
}

TEST(AccessList, RootAndTheDaemonsOwnUserAreOwn) {
  EXPECT_TRUE(is_own({.uid = 0, .gid = 9, .groups = {}}));
  EXPECT_TRUE(is_own({.uid = ::geteuid(), .gid = 9, .groups = {}}));
  EXPECT_FALSE(is_own({.uid = kStranger, .gid = 0, .groups = {0}}));
}

TEST(AccessList, AnUnknownNameIsAnErrorThatNamesIt) {
  EXPECT_THAT(AccessList::parse("some.key", {"no-such-user"}).status().message(),
              HasSubstr("some.key: this host knows no user 'no-such-user'"));
  EXPECT_THAT(AccessList::parse("some.key", {"group:no-such-group"}).status().message(),
              HasSubstr("no group 'no-such-group'"));
  EXPECT_THAT(AccessList::parse("some.key", {"-1"}).status().message(), HasSubstr("no user '-1'"));
  EXPECT_THAT(AccessList::parse("some.key", {""}).status().message(), HasSubstr("no user ''"));
}

}  // namespace
}  // namespace echoline
