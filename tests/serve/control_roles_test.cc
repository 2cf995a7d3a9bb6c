// Authorization: users and groups as the kernel reports them, certificates by their names.
#include "serve/control/control_roles.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "echoline/v1/control.pb.h"

namespace echoline::serve {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kAlice = 54'321;
constexpr uid_t kBob = 54'322;
constexpr gid_t kTeam = 54'400;

ControlRoles roles(const std::vector<std::string>& operators,
                   const std::vector<std::string>& readers) {
  v1::ControlAccess access;
  access.mutable_operators()->Assign(operators.begin(), operators.end());
  access.mutable_readers()->Assign(readers.begin(), readers.end());
  return *ControlRoles::parse(access);
}

Role role_of(const ControlRoles& roles, const Peer& peer) { return roles.of_peer(peer).role; }

std::string denial(Role role, const std::string& method) {
  return may_call({role, "user x"}, "/echoline.v1.Control/" + method).message();
}

TEST(ControlRoles, AreFoundByUserAndGroup) {
  const ControlRoles lists = roles({"54321", "group:54400"}, {"54322", "CN=x"});
  EXPECT_EQ(role_of(lists, {.uid = kAlice, .gid = 1, .groups = {}}), Role::kOperator);
  EXPECT_EQ(role_of(lists, {.uid = kBob, .gid = 1, .groups = {}}), Role::kReader);
  EXPECT_EQ(role_of(lists, {.uid = kBob, .gid = 1, .groups = {kTeam}}), Role::kOperator);
  EXPECT_EQ(role_of(lists, {.uid = 54'323, .gid = 1, .groups = {}}), Role::kStranger);
  EXPECT_EQ(role_of(roles({}, {}), {.uid = 0, .groups = {}}), Role::kOperator);
  EXPECT_EQ(lists.of_peer({.uid = kBob, .groups = {}}).name, "user 54322");
  EXPECT_EQ(lists.of_peer({.uid = 0, .groups = {}}).name, "user root (0)");
}

TEST(ControlRoles, OpenTheSocketForUsersOnlyWhereSomeAreNamed) {
  EXPECT_FALSE(roles({}, {}).admit_other_users());
  EXPECT_FALSE(roles({"CN=ops"}, {"CN=look"}).admit_other_users());
  EXPECT_TRUE(roles({}, {"54322"}).admit_other_users());
  EXPECT_TRUE(roles({"group:54400"}, {}).admit_other_users());
}

TEST(ControlRoles, AreFoundByEveryNameOfACertificate) {
  const ControlRoles lists = roles({"CN=ops", "URI:spiffe://a/b"}, {"DNS:look.example.org"});
  EXPECT_EQ(lists.of_certificate({"CN=ops"}).role, Role::kOperator);
  EXPECT_EQ(lists.of_certificate({"CN=x", "URI:spiffe://a/b"}).role, Role::kOperator);
  EXPECT_EQ(lists.of_certificate({"CN=x", "DNS:look.example.org"}).role, Role::kReader);
  for (const char* other : {"CN=opsy", "DNS:ops", "CN=", "ops", "URI:spiffe://a"})
    EXPECT_EQ(lists.of_certificate({other}).role, Role::kStranger) << other;
  EXPECT_EQ(lists.of_certificate({}).role, Role::kStranger);
  EXPECT_EQ(lists.of_certificate({"CN=a", "DNS:b"}).name, "the certificate CN=a, DNS:b");
  EXPECT_EQ(lists.of_certificate({"CN=a\nb"}).name, "the certificate CN=a\uFFFDb");
  EXPECT_LT(lists.of_certificate({"CN=" + std::string(9'000, 'a')}).name.size(), 300U);
}

TEST(ControlRoles, TakeAnySubjectForAStarButNoAlternativeName) {
  const ControlRoles lists = roles({}, {"CN=*"});
  EXPECT_EQ(lists.of_certificate({"CN=anybody"}).role, Role::kReader);
  EXPECT_EQ(lists.of_certificate({"DNS:anybody"}).role, Role::kStranger);
}

// A new call is for operators only, unless its name shows that it only reads.
TEST(ControlRoles, LetReadersCallWhatOnlyLooks) {
  const auto* service = v1::StreamStatus::descriptor()->file()->service(0);
  ASSERT_GT(service->method_count(), 5);
  for (int i = 0; i < service->method_count(); ++i) {
    const std::string name = service->method(i)->name();
    const bool looks =
        name.starts_with("Get") || name.starts_with("List") || name.starts_with("Watch");
    EXPECT_EQ(denial(Role::kReader, name).empty(), looks) << name;
    EXPECT_EQ(denial(Role::kOperator, name), "");
    EXPECT_THAT(denial(Role::kStranger, name), HasSubstr("user x may not use the control service"));
  }
}

TEST(ControlRoles, KnowTheStandardServicesAndTrustNoOther) {
  const Caller stranger{Role::kStranger, "user x"};
  const Caller reader{Role::kReader, "user x"};
  EXPECT_TRUE(may_call(stranger, "/grpc.health.v1.Health/Check").ok());
  constexpr const char* kReflection =
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  EXPECT_TRUE(may_call(reader, kReflection).ok());
  EXPECT_EQ(may_call(stranger, kReflection).code(), Code::kPermissionDenied);
  for (const char* odd : {"", "/", "/other.Service/ListAll", "GetState", "/echoline.v1.Control"})
    EXPECT_FALSE(may_call(reader, odd).ok()) << odd;
}

}  // namespace
}  // namespace echoline::serve
