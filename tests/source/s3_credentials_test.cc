// S3 with credentials that expire, against a server that checks signatures and one that rejects
// them as expired.
#include <gmock/gmock.h>

#include <thread>

#include "servers/server_process.h"
#include "source/open/open_source.h"
#include "source/reading.h"
#include "source/s3_put.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

v1::Read read_step(const std::string& url, const ServerProcess& store) {
  v1::Read read;
  read.add_url(url);
  read.set_endpoint(store.fact("endpoint"));
  return read;
}

// The environment of an instance with this metadata service.
TestEnvironment::Variables instance(const ServerProcess& service) {
  return {{"AWS_EC2_METADATA_DISABLED", "false"},
          {"AWS_EC2_METADATA_SERVICE_ENDPOINT", service.fact("endpoint")}};
}

int issued(const ServerProcess& service) {
  return std::stoi(web_ask("GET", service.fact("endpoint") + "/count").body);
}

TEST(S3Credentials, ReadsGoOnWhileTheyAreRenewedAndAllStreamsShareTheRenewal) {
  const ServerProcess store("s3_server.py", {"--bucket", "photos"});
  if (store.missing()) GTEST_SKIP() << "no S3 server: pip install -r tests/requirements.txt";
  ASSERT_TRUE(store.ready());
  const Credentials keys{store.fact("access_key"), store.fact("secret_key"), "", 0};
  const ServerProcess service(
      "credential_server.py",
      {"--lifetime", "4", "--access-key", keys.access_key, "--secret-key", keys.secret_key});
  if (service.missing()) GTEST_SKIP() << "no openssl";
  ASSERT_EQ(S3Put(store.fact("endpoint"), keys).object("photos", "a", "0123456789"), 200);
  const TestEnvironment environment(instance(service));
  auto first = open_source(read_step("s3://photos/a", store));
  auto second = open_source(read_step("s3://photos/a", store));
  ASSERT_TRUE(first.ok()) << first.status().message();
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(issued(service), 1);
  const ObjectInfo info = (*first)->list("s3://photos/a")->at(0);
  const std::uint64_t end = monotonic_ns() + 7 * kSecondNs;
  while (monotonic_ns() < end) {
    for (auto* source : {&*first, &*second}) {
      std::string bytes(10, 0);
      const Status status = read_into(**source, info, 0, bytes);
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(bytes, "0123456789");
    }
  }
  EXPECT_EQ((*first)->counters().requests_retried + (*second)->counters().requests_retried, 0U);
  EXPECT_GE(issued(service), 2);
  EXPECT_LE(issued(service), 4);
}

class ExpiryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (service_.missing()) GTEST_SKIP() << "no openssl";
    ASSERT_TRUE(store_.ready() && service_.ready());
  }
  std::unique_ptr<Source> open(std::uint64_t timeout_ns = 60 * kSecondNs) {
    v1::Read step = read_step("s3://bucket/ok", store_);
    step.set_timeout(timeout_ns);
    auto source = open_source(step);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? std::move(source).value() : nullptr;
  }
  static Status read(Source& source, const std::string& name) {
    std::string bytes(1000, 0);
    return read_into(source, {"s3://bucket/" + name, 1 << 20, "v1"}, 0, bytes);
  }

  const ServerProcess store_{"fault_server.py"};
  const ServerProcess service_{"credential_server.py"};
};

TEST_F(ExpiryTest, AnAnswerThatTheyHaveExpiredLeadsToOneRenewalAndARetry) {
  const TestEnvironment environment(instance(service_));
  const auto source = open();
  const Status status = read(*source, "key2-999-a");
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(issued(service_), 2);
  EXPECT_EQ(source->counters().requests_retried, 1U);
}

TEST_F(ExpiryTest, WhenNewOnesAreRefusedTooItIsAnErrorAfterTheTimeOutThatTellsNoSecret) {
  const TestEnvironment environment(instance(service_));
  const auto source = open(2 * kSecondNs);
  const std::uint64_t start = monotonic_ns();
  const Status status = read(*source, "expired-999-b");
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("ExpiredToken"), Not(HasSubstr("hush"))));
  // At the first refusal, and a second later if a retry comes before the time-out.
  EXPECT_GE(issued(service_), 2);
  EXPECT_LE(issued(service_), 3);
  EXPECT_LT(monotonic_ns() - start, 15 * kSecondNs);
}

TEST_F(ExpiryTest, FixedOnesThatHaveExpiredAreAnErrorAtOnce) {
  const TestEnvironment environment(
      {{"AWS_ACCESS_KEY_ID", "KEY-1"}, {"AWS_SECRET_ACCESS_KEY", "hush"}});
  const auto source = open();
  EXPECT_THAT(read(*source, "expired-999-c").message(), HasSubstr("renew the session token"));
  EXPECT_EQ(source->counters().requests_retried, 0U);
}

TEST_F(ExpiryTest, AnOutageOfTheServiceIsWaitedOut) {
  const ServerProcess brief("credential_server.py", {"--lifetime", "2"});
  const TestEnvironment environment(instance(brief));
  const auto source = open();
  web_ask("GET", brief.fact("endpoint") + "/fail?count=3");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  const Status status = read(*source, "ok-0-d");
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace echoline::source
