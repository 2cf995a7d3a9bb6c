// publish.access: names, numbers, groups, and who gets in by each.
#include "engine/access_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace echoline::engine {
namespace {

using testing::HasSubstr;

constexpr uid_t kStranger = 54'321;

bool admits(const std::vector<std::string>& entries, const Peer& peer) {
  const Result<AccessList> access = AccessList::parse(entries);
  EXPECT_TRUE(access.ok()) << access.status().message();
  return access.ok() && access->admits(peer);
}

TEST(AccessList, WithoutEntriesEverybodyMay) {
  EXPECT_TRUE(admits({}, {.uid = kStranger, .gid = kStranger, .groups = {}}));
}

TEST(AccessList, UsersGoByNameOrNumber) {
  EXPECT_TRUE(admits({"nobody"}, {.uid = 65'534, .gid = 1, .groups = {}}));
  EXPECT_TRUE(admits({"1", "54321"}, {.uid = kStranger, .gid = 1, .groups = {}}));
  EXPECT_FALSE(admits({"nobody", "54322"}, {.uid = kStranger, .gid = 54'322, .groups = {54'322}}));
}

TEST(AccessList, GroupsCountWhetherFirstOrSupplementary) {
  const std::vector<std::string> entries{"group:daemon", "group:54322"};
  EXPECT_TRUE(admits(entries, {.uid = kStranger, .gid = 1, .groups = {}}));
  EXPECT_TRUE(admits(entries, {.uid = kStranger, .gid = 9, .groups = {7, 54'322}}));
  EXPECT_FALSE(admits(entries, {.uid = 54'322, .gid = 9, .groups = {7, 8}}));
}

TEST(AccessList, RootAndTheDaemonsOwnUserAlwaysMay) {
  EXPECT_TRUE(admits({"nobody"}, {.uid = 0, .gid = 9, .groups = {}}));
  EXPECT_TRUE(admits({"nobody"}, {.uid = ::geteuid(), .gid = 9, .groups = {}}));
}

TEST(AccessList, AnUnknownNameIsAnErrorThatNamesIt) {
  EXPECT_THAT(AccessList::parse({"no-such-user"}).status().message(),
              HasSubstr("no user 'no-such-user'"));
  EXPECT_THAT(AccessList::parse({"group:no-such-group"}).status().message(),
              HasSubstr("no group 'no-such-group'"));
  EXPECT_THAT(AccessList::parse({"-1"}).status().message(), HasSubstr("no user '-1'"));
  EXPECT_THAT(AccessList::parse({""}).status().message(), HasSubstr("no user ''"));
}

}  // namespace
}  // namespace echoline::engine
