// daemon.control: which settings need each other, and the errors if one is missing.
#include "config/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"

namespace echoline::config {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFiles = "certificate: /c.pem, key: /k.pem, client_ca: /a.pem";

std::string outcome_of(const std::string& control) {
  const auto config = parse_config("daemon: {control: {" + control + "}}", "t.yaml");
  return config.ok() ? "accepted" : config.status().message();
}

TEST(ControlConfig, TakesUsersGroupsAndCertificates) {
  EXPECT_EQ(outcome_of("operators: [alice, 1001, 'group:ops'], readers: ['group:7']"), "accepted");
  EXPECT_EQ(outcome_of(std::string("listen: '[::]:9465', readers: ['CN=*'], ") + kFiles),
            "accepted");
  EXPECT_EQ(outcome_of(std::string("listen: 'host:9465', operators: ['URI:spiffe://a/b', "
                                   "'DNS:a.example', 'email:a@b.example'], ") +
                       kFiles),
            "accepted");
}

TEST(ControlConfig, RefusesPlainTcpInWords) {
  EXPECT_EQ(outcome_of("listen: '0.0.0.0:9465', operators: [CN=ops]"),
            "t.yaml:1:28: key 'listen': 'certificate' is missing: over TCP the control service "
            "speaks TLS with certificates on both sides, and nothing else; set certificate, key "
            "and client_ca, or leave listen out and use control.sock");
  EXPECT_THAT(outcome_of("listen: 'a:1', operators: [CN=ops], certificate: /c, key: /k"),
              HasSubstr("'client_ca' is missing"));
}

TEST(ControlConfig, RefusesAnAddressWithoutUsers) {
  EXPECT_THAT(outcome_of(std::string("listen: 'a:1', operators: [alice], ") + kFiles),
              HasSubstr("no certificate may use it; name some in operators or readers"));
}

TEST(ControlConfig, RefusesFilesWithoutAnAddress) {
  EXPECT_THAT(outcome_of("key: /k.pem"), HasSubstr("key 'key': of no use without 'listen'"));
}

TEST(ControlConfig, RefusesEntriesThatAreNeitherUserNorCertificate) {
  EXPECT_THAT(outcome_of("operators: ['O=corp']"), HasSubstr("'O=corp' names nobody; allowed"));
  EXPECT_THAT(outcome_of("readers: ['CN=']"), HasSubstr("'CN=' names nobody"));
}

TEST(ControlConfig, KnowsAnAddress) {
  for (const char* good : {"0.0.0.0:9465", "[::]:0", "host:65535"}) EXPECT_TRUE(is_address(good));
  for (const char* bad : {"", "9465", ":9465", "host:", "host:65536", "host:-1", "host:1x"})
    EXPECT_FALSE(is_address(bad)) << bad;
}

TEST(EtcdConfig, NamesWhatIsMissing) {
  const auto outcome = [](const std::string& keys) {
    const auto config =
        parse_config("daemon: {etcd: {endpoints: ['a:2379']" + keys + "}}", "t.yaml");
    return config.ok() ? config->daemon().etcd().prefix() : config.status().message();
  };
  EXPECT_EQ(outcome(""), "/echoline/");
  EXPECT_EQ(outcome(", server_ca: /a, certificate: /c, key: /k, prefix: /x/"), "/x/");
  EXPECT_THAT(outcome(", server_ca: /a, certificate: /c"), HasSubstr("needs 'key', too"));
  EXPECT_THAT(outcome(", certificate: /c, key: /k"), HasSubstr("of no use without 'server_ca'"));
  EXPECT_THAT(outcome(", prefix: ''"), HasSubstr("is empty"));
  EXPECT_THAT(parse_config("daemon: {etcd: {endpoints: [host]}}", "t").status().message(),
              HasSubstr("'host' is no address"));
}

}  // namespace
}  // namespace echoline::config
